import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newPrivateKey, writeSecretFile } from '@phds/local-stack/key-files';
import type { ManagedProcess } from '@phds/local-stack/managed-process';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import type { Visitor } from '@phds/running-system/visitor';
import { HEART_PATH } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import type { Page } from 'playwright-core';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { Keyboard } from '../src/keyboard.ts';
import { openSignInTab, pickPerson, signOutAtProvider } from '../src/sign-in-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const ENDED = 'Your session has ended';
const STEP_UP = { STEP_UP_FOR: 'secret-rotation', STEP_UP_ACR: 'confirmed' };
const WAITING_FOR = /wants to read your health data$/;

let stack: RunningStack;
let app: PartnerApp;
// A stack of its own, because tests stop its identity provider and replace that one's key.
const visits = prepareVisits(async () => {
  stack = await startRunningStack({
    gateways: 2,
    environment: { authorization: STEP_UP, gateway: STEP_UP },
  });
  return stack;
});

beforeAll(async () => {
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

describeWithChromium('when the session ends while a page is open', () => {
  const openApproval = async (user: string) => {
    const session = await signIn(stack, user);
    const { body } = expectStatus(201, await app.authorize([HEART, 'read:weight', 'read:mood']));
    const visitor = await visits.open(body.approval_uri, { session });
    const { page } = visitor;
    // The page knows the person then.
    await page.getByRole('button', { name: 'Switch account' }).waitFor();
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart', 'Mood');
    const url = `${app.gateway}/partner/consent/pending/${body.pending_id}`;
    return {
      visitor,
      page,
      session,
      screen,
      share: screen.share,
      dialog: page.getByRole('alertdialog'),
      status: async () => (await send(url, { bearer: session })).body.data.status as string,
    };
  };
  const endSession = (visitor: Visitor) => visitor.page.context().clearCookies();

  test('an approval keeps its choices, and continues after a sign-in in a new tab, which closes', async () => {
    const { visitor, page, session, screen, share, dialog, status } = await openApproval('web-ended-ada');
    await screen.chooseLife('30 days');
    await screen.chooseFirstDay('2026-01-01');
    await endSession(visitor);
    await share.click();
    await dialog.getByRole('heading', { name: ENDED }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('session-ended');

    const tab = await openSignInTab(page);
    const closed = tab.waitForEvent('close');
    await pickPerson(tab, 'web-ended-ada');
    await closed;
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('You have signed in again. Please try once more.').waitFor();
    await share.and(page.locator(':focus')).waitFor();
    expect(await status()).toBe('pending');
    await visitor.takePictures('session-back');
    expect(await screen.limits()).toEqual(['30 days', 'Choose a date']);

    const arrival = await visitor.leave(() => share.press('Enter'));
    const { body } = await app.exchange(arrival.searchParams.get('code') ?? '');
    expect(body.scope.split(' ').toSorted()).toEqual([HEART, 'read:mood']);
    const grant = await send(`${app.gateway}/partner/consent/grants/${body.grant_id}`, { bearer: session });
    expect(grant.body.data.dataFrom).toBe('2026-01-01');
  });

  test('and somebody else signs in instead, the page reloads and shows nothing of the first person', async () => {
    const { visitor, page, share, dialog, status } = await openApproval('web-ended-grace');
    await endSession(visitor);
    await share.click();
    await dialog.waitFor();
    await pickPerson(await openSignInTab(page), 'web-ended-other');
    await page.getByRole('heading', { name: "This request isn't available" }).waitFor();
    await page.getByText('web-ended-other', { exact: true }).waitFor();
    expect(await page.content()).not.toContain('Morning Run');
    expect(await status()).toBe('pending');
  });

  test('the dialog works with the keyboard, can be closed to read the page, and opens again on demand', async () => {
    const { visitor, page, share, dialog } = await openApproval('web-ended-reader');
    const keyboard = new Keyboard(page);
    await endSession(visitor);
    await keyboard.activate(share);
    await keyboard.waitForFocusIn(dialog.getByRole('link', { name: 'Sign in' }));
    for (let stops = 0; stops < 4; stops += 1) {
      await keyboard.press('Tab');
      await keyboard.waitForFocusIn(dialog);
    }
    await keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await share.and(page.locator(':focus')).waitFor();
    const notice = page.getByRole('alert').filter({ hasText: 'Nothing was changed.' });
    expect(await notice.textContent()).toContain('Your session has ended.');
    for (const screen of ['phone', 'dark'] as const) {
      await visitor.lookAs(screen);
      expect(await visitor.findBarriers()).toEqual([]);
    }
    await visitor.takePictures('session-ended-dialog-closed');

    const again = notice.getByRole('button', { name: 'Sign in again' });
    await keyboard.activate(again, 'Shift+Tab');
    await dialog.waitFor();
    await page.setViewportSize({ width: 320, height: 480 });
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
    expect(await visitor.findBarriers()).toEqual([]);
    await keyboard.activate(dialog.getByRole('button', { name: 'Not now' }), 'Shift+Tab');
    await again.and(page.locator(':focus')).waitFor();
  });

  test('a sign-in in any tab of the browser is enough', async () => {
    const { visitor, page, share, dialog } = await openApproval('web-ended-tabs');
    await endSession(visitor);
    await share.click();
    await dialog.waitFor();
    const other = await page.context().newPage();
    await other.goto(app.gateway);
    await other.getByRole('link', { name: 'Sign in' }).first().click();
    await pickPerson(other, 'web-ended-tabs');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(2);
  });

  test('a page that reads in the background asks as well, and reads again after the sign-in', async () => {
    const session = await signIn(stack, 'web-ended-looker');
    const visitor = await visits.open('/apps', { session });
    const { page } = visitor;
    await endSession(visitor);
    await page.getByRole('link', { name: 'Access history' }).click();
    const dialog = page.getByRole('alertdialog', { name: ENDED });
    await dialog.waitFor();
    await pickPerson(await openSignInTab(page), 'web-ended-looker');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'No reads yet' }).waitFor();
  });

  test('pages that were open when the person signed out in another tab show nothing of them any more', async () => {
    const { visitor, page } = await openApproval('web-ended-leaver');
    const other = await page.context().newPage();
    await other.goto(new URL('/apps', app.gateway).href);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    expect(await page.content()).not.toContain('Morning Run');
    expect(visitor.complaints).toEqual([]);
  });

  test('a step that needs a recent sign-in asks for it, and works after it', async () => {
    const { visitor, page, share, dialog } = await openApproval('web-ended-confirmer');
    const problem = {
      status: 403,
      json: { code: 'STEP_UP_REQUIRED', detail: 'A recent sign-in is needed.' },
    };
    await page.route('**/approve', (route) => route.fulfill(problem), { times: 1 });
    await share.click();
    await dialog.getByRole('heading', { name: 'Please confirm that it is you' }).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('step-up');
    const link = await dialog.getByRole('link', { name: 'Sign in' }).getAttribute('href');
    expect(link).toBe('/sign-in?return_to=%2Fsigned-in&step_up=1');
    const tab = await openSignInTab(page);
    // A page that opens elsewhere in the browser is no new sign-in.
    const other = await page.context().newPage();
    await other.goto(new URL('/apps', app.gateway).href);
    await other.getByText('web-ended-confirmer').waitFor();
    expect(await dialog.count()).toBe(1);
    await pickPerson(tab, 'web-ended-confirmer');
    await dialog.waitFor({ state: 'detached' });
    expect((await visitor.leave(() => share.click())).searchParams.has('code')).toBe(true);
  });

  test('a page opened with an ended session signs in silently, once', async () => {
    const visitor = await visits.open('/apps', { session: await signIn(stack, 'web-ended-returner') });
    const { page } = visitor;
    const asked: string[] = [];
    await page.route('**/sign-in?*', (route) => {
      asked.push(new URL(route.request().url()).search);
      return route.fulfill({ status: 303, headers: { Location: '/apps?from=link#sign-in-required' } });
    });
    await endSession(visitor);
    await page.goto(new URL('/apps?from=link', app.gateway).href);
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    expect(asked).toEqual(['?return_to=%2Fapps%3Ffrom%3Dlink&silent=1']);
    expect(page.url()).toBe(new URL('/apps?from=link', app.gateway).href);
    await visitor.goto('/history');
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    expect(asked).toHaveLength(1);
  });

  test('people who never signed in, or who signed out, are not redirected', async () => {
    const visitor = await visits.open('/', {});
    const { page } = visitor;
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/sign-in?')) asked.push(request.url());
    });
    await visitor.goto('/apps');
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    const value = await signIn(stack, 'web-ended-stranger');
    await page.context().addCookies([{ name: 'session', value, url: stack.gateway }]);
    await visitor.goto('/apps');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
    for (const path of ['/', '/apps', '/history']) await visitor.goto(path);
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    expect(asked).toEqual([]);
  });

  test('a sign-out that the service could not store says that the session may go on elsewhere', async () => {
    const visitor = await visits.open('/apps', { session: await signIn(stack, 'web-ended-unsure') });
    const { page } = visitor;
    const headers = { 'Set-Cookie': 'session=; Path=/; Max-Age=0' };
    await page.route('**/sign-out', (route) => route.fulfill({ status: 503, headers, json: {} }));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('alert').getByText('You are signed out in this browser.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('signed-out-here');
    await visitor.goto('/apps');
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
  });
});

describeWithChromium('people sign in at an OpenID provider', () => {
  const ask = async (): Promise<string> =>
    expectStatus(201, await app.authorize([HEART, 'read:weight', 'read:mood'])).body.approval_uri;
  const provider = (): ManagedProcess => {
    const found = stack.processes.get('identity-provider');
    if (found === undefined) throw new Error('no identity provider');
    return found;
  };
  /** Opens a page in a new window and signs in there, as this person. */
  const openSignedIn = async (path: string, user: string) => {
    const visitor = await visits.open(path, {});
    await visitor.page.getByRole('link', { name: 'Sign in' }).first().click();
    await pickPerson(visitor.page, user);
    await visitor.page.getByText(user, { exact: true }).waitFor();
    return visitor;
  };
  const findSession = async (page: Page): Promise<string | undefined> =>
    (await page.context().cookies(stack.gateway)).find(({ name }) => name === 'session')?.value;
  /** As the browser does when the session expires. */
  const dropSession = (page: Page) => page.context().clearCookies({ name: 'session' });

  test('an approval link leads through the sign-in and the decision back to the app, which can read', async () => {
    const visitor = await visits.open(await ask(), {});
    const { page } = visitor;
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.waitForURL(`${stack.identityProviderUrl}/**`);
    await visitor.takePictures('provider-sign-in');
    await pickPerson(page, 'sign-in-ada');
    await page.getByRole('heading', { name: WAITING_FOR }).waitFor();
    const cookies = await page.context().cookies(stack.gateway);
    expect(cookies.find(({ name }) => name === 'session')).toMatchObject({ httpOnly: true, sameSite: 'Lax' });
    expect(cookies.filter(({ name }) => name.startsWith('sign-in'))).toEqual([]);
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart', 'Weight by day');
    const callback = await visitor.leave(() => screen.share.click());
    const { body } = expectStatus(200, await app.exchange(callback.searchParams.get('code') ?? ''));
    expect((await app.read(body.access_token, HEART_PATH)).status).toBe(200);
  });

  test("a sign-out at the provider ends an open page's session at the next request on every gateway", async () => {
    const visitor = await openSignedIn('/apps', 'sign-in-leaver');
    const { page } = visitor;
    const session = await findSession(page);
    const pages = [page];
    for (const url of stack.gatewayUrls.slice(1)) {
      const other = await page.context().newPage();
      await other.goto(`${url}/apps`);
      await other.getByRole('heading', { name: 'No app can read your data' }).waitFor();
      pages.push(other);
    }
    expect(pages).toHaveLength(2);
    await signOutAtProvider(page, stack.identityProviderUrl);
    for (const open of pages) {
      await open.getByRole('link', { name: 'Access history' }).click();
      await open.getByRole('alertdialog', { name: 'Your session has ended' }).waitFor();
    }
    for (const url of stack.gatewayUrls) {
      const answer = await send(`${url}/partner/session`, { bearer: session ?? '' });
      expect(answer.status).toBe(401);
    }
  });

  test('a sign-out ends the session everywhere, and the next sign-in asks who the person is', async () => {
    const visitor = await openSignedIn('/apps', 'sign-in-done');
    const { page } = visitor;
    const session = (await findSession(page)) ?? '';
    const ownUrl = (url: string) => `${url}/partner/session`;
    expectStatus(200, await send(ownUrl(stack.gateway), { bearer: session }));
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${stack.gateway}/`);
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
    expect(await findSession(page)).toBeUndefined();
    for (const url of stack.gatewayUrls) {
      expect((await send(ownUrl(url), { bearer: session })).status).toBe(401);
    }
    await page.getByRole('link', { name: 'Sign in' }).first().click();
    await page.getByLabel('Somebody else').waitFor();
  });

  test('a page opened with an expired session signs in without asking, or asks once the provider does not know the person', async () => {
    const visitor = await openSignedIn('/apps', 'sign-in-returner');
    const { page } = visitor;
    await dropSession(page);
    await visitor.goto('/history');
    await page.getByRole('heading', { name: 'No reads yet' }).waitFor();
    expect(page.url()).toBe(`${stack.gateway}/history`);
    await page.context().clearCookies();
    await visitor.goto('/history');
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    expect(page.url()).toBe(`${stack.gateway}/history`);
  });

  test('a step that needs a stronger sign-in asks for it in a new tab, though the provider knows the person', async () => {
    const maker = await signIn(stack, 'sign-in-maker');
    const { clientId } = await registerApp(stack.gateway, maker, { name: 'Guarded' });
    const { page } = await openSignedIn(`/console/${clientId}`, 'sign-in-maker');
    const rotate = async () => {
      await page.getByRole('button', { name: 'Rotate the secret' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).click();
    };
    await rotate();
    await page.getByRole('alertdialog', { name: 'Please confirm that it is you' }).waitFor();
    await pickPerson(await openSignInTab(page), 'sign-in-maker');
    await page.getByText('You have signed in again. Please try once more.').waitFor();
    await rotate();
    await page.getByText('Copy the secret now.').waitFor();
  });

  test('while the provider is away, signed-in pages work and signing in says what is wrong', async () => {
    const visitor = await openSignedIn('/apps', 'sign-in-patient');
    const { page } = visitor;
    await provider().stop();
    try {
      for (const path of ['/apps', '/history', '/data']) await visitor.goto(path);
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      const stranger = await visits.open('/apps', {});
      await eventually(
        async () => {
          // The gateway trusts a provider that has just answered, and sends the browser there: then no page appears at all.
          await stranger.page.goto(`${stack.gateway}/sign-in`).catch(() => undefined);
          return stranger.page
            .getByRole('heading', { name: 'Signing in is not possible right now' })
            .isVisible();
        },
        { intervalMs: 500 },
      );
      await stranger.takePictures('provider-away');
      await dropSession(page);
      await visitor.goto('/apps');
      await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    } finally {
      await provider().start();
    }
    const again = await openSignedIn('/apps', 'sign-in-patient');
    await again.page.getByRole('heading', { name: 'No app can read your data' }).waitFor();
  });

  test('a new key of the provider is accepted without a restart', async () => {
    const running = () => [...stack.processes.values()].filter((each) => each !== provider());
    const before = running().map(({ pid }) => pid);
    await provider().stop();
    await writeSecretFile(stack.keys.identityProviderPrivateKey, newPrivateKey());
    await provider().start();
    const { page } = await openSignedIn('/apps', 'sign-in-rotated');
    await page.getByRole('heading', { name: 'No app can read your data' }).waitFor();
    const session = (await findSession(page)) ?? '';
    for (const url of stack.gatewayUrls) {
      await eventually(async () => {
        expectStatus(200, await send(`${url}/partner/consent/grants`, { bearer: session }));
      });
    }
    expect(running().map(({ pid }) => pid)).toEqual(before);
  });
});
