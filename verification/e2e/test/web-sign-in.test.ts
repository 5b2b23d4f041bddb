import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newPrivateKey, writeSecretFile } from '@phds/local-stack/key-files';
import type { ManagedProcess } from '@phds/local-stack/managed-process';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { HEART_PATH } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import type { Page } from 'playwright-core';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { openSignInTab, pickPerson, signOutAtProvider } from '../src/sign-in-page.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const STEP_UP = { STEP_UP_FOR: 'secret-rotation', STEP_UP_ACR: 'confirmed' };
const WAITING_FOR = /wants to read your health data$/;
describeWithChromium('people sign in at an OpenID provider', signingIn);

function signingIn(): void {
  let stack: RunningStack;
  let app: PartnerApp;
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
}
