import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { Visitor } from '@phds/running-system/visitor';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { Keyboard } from '../src/keyboard.ts';
import { openSignInTab, pickPerson } from '../src/sign-in-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const ENDED = 'Your session has ended';
describeWithChromium('when the session ends while a page is open', endedSession);

function endedSession(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
  });

  const openApproval = async (user: string) => {
    const session = await signIn(visits.stack, user);
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
    const session = await signIn(visits.stack, 'web-ended-looker');
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
    const asked = page.context().waitForEvent('request', (request) => request.url().includes('/sign-in?'));
    const tab = await openSignInTab(page);
    expect(new URL((await asked).url()).search).toBe('?return_to=%2Fsigned-in&step_up=1');
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
    const visitor = await visits.open('/apps', { session: await signIn(visits.stack, 'web-ended-returner') });
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
    const { gateway } = visits.stack;
    const value = await signIn(visits.stack, 'web-ended-stranger');
    await page.context().addCookies([{ name: 'session', value, url: gateway }]);
    await visitor.goto('/apps');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
    for (const path of ['/', '/apps', '/history']) await visitor.goto(path);
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    expect(asked).toEqual([]);
  });

  test('a sign-out that the service could not store says that the session may go on elsewhere', async () => {
    const visitor = await visits.open('/apps', { session: await signIn(visits.stack, 'web-ended-unsure') });
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
}
