import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import type { Page, Route } from 'playwright-core';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

// As if the person returned from another window.
const COME_BACK = "window.dispatchEvent(new Event('visibilitychange'))";
const HEART = 'read:health-data:heart';

const visits = prepareVisits();
let app: PartnerApp;

beforeAll(async () => {
  const { stack } = visits;
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
});

/** The service receives and processes the request, but its response is lost. */
async function loseAnswer(route: Route): Promise<void> {
  await route.fetch();
  await route.abort('connectionreset');
}

describeWithChromium('when an answer is lost', () => {
  let session: string;

  beforeAll(async () => {
    session = await signIn(visits.stack, 'web-lost-answers-ada');
  });

  const ask = async (scopes: readonly string[]) => {
    const { body } = expectStatus(201, await app.authorize(scopes, { state: 'a state' }));
    return body.approval_uri as string;
  };

  test('an approval still reaches the app, with the choices made', async () => {
    const approvalUri = await ask([HEART, 'read:weight']);
    const visitor = await visits.open(approvalUri, { session });
    const { page } = visitor;
    const screen = new ApprovalScreen(page);
    await screen.choose('Heart');
    await screen.chooseLife('30 days');
    await screen.chooseFirstDay('2026-01-01');
    await page.route('**/approve', loseAnswer, { times: 1 });
    await screen.share.click();
    await page
      .getByRole('heading', { name: "You're sharing with Morning Run" })
      .and(page.locator(':focus'))
      .waitFor();
    await page.getByText("You approved Morning Run's request.").waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-answer-lost');

    const later = await visits.open(approvalUri, { session });
    const goOn = later.page.getByRole('button', { name: 'Continue to Morning Run' });
    const callback = await later.leave(() => goOn.click());
    expect(callback.searchParams.get('state')).toBe('a state');
    const code = callback.searchParams.get('code') ?? '';
    expect(expectStatus(200, await app.exchange(code)).body.scope).toBe(HEART);

    await page.getByRole('button', { name: 'Continue to Morning Run' }).click();
    await page.getByText('Morning Run has used this approval already, or its time is over.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-answer-lost-code-used');
  });

  test('a denial still reaches the app', async () => {
    const visitor = await visits.open(await ask([HEART]), { session });
    const { page } = visitor;
    await page.route('**/deny', loseAnswer, { times: 1 });
    await page.getByRole('button', { name: "Don't share" }).click();
    await page.getByRole('heading', { name: 'You declined' }).waitFor();
    const goOn = page.getByRole('button', { name: 'Return to Morning Run' });
    const callback = await visitor.leave(() => goOn.click());
    expect(callback.searchParams.get('error')).toBe('access_denied');
  });

  /** Clicks a button that opens a confirmation, and confirms. */
  const confirm = async (page: Page, trigger: string, name: string) => {
    await page.getByRole('button', { name: trigger, exact: true }).click();
    await page.getByRole('alertdialog').getByRole('button', { name }).click();
  };
  const connect = async (user: string, scopes = [HEART]) => {
    const owner = await signIn(visits.stack, user);
    const { grantId } = await app.connect(owner, scopes);
    return { owner, url: `${app.gateway}/partner/consent/grants/${grantId}`, path: `/apps/${grantId}` };
  };

  test('ended sharing is shown as ended', async () => {
    const { owner, path } = await connect('lost-answers-stopper');
    const { page } = await visits.open(path, { session: owner });
    await page.route('**/grants/*', loseAnswer, { times: 1 });
    await confirm(page, 'Stop sharing', 'Stop sharing');
    await page.getByText('Morning Run no longer has access.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('active sharing is reported as active after a check, and no longer once it has ended elsewhere', async () => {
    const { owner, url, path } = await connect('looker');
    const visitor = await visits.open(path, { session: owner });
    const { page } = visitor;
    await page.route('**/grants/*', (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
    await visitor.loseAnswer(() => confirm(page, 'Stop sharing', 'Stop sharing'));
    await page.getByRole('alert').getByText('Sharing has not stopped yet.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('connected-app-not-stopped');
    expectStatus(200, await send(url, { method: 'DELETE', bearer: owner }));
    await page.evaluate(COME_BACK);
    await page.getByText('Morning Run no longer has access.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('a change that the gateway may still make by its settings is not reported as failed, and is shown once it is made', async () => {
    const { owner, url, path } = await connect('patient');
    const { page } = await visits.open(path, { session: owner });
    await page.clock.install();
    await page.route('**/grants/*', (route) => route.abort('connectionreset'), { times: 1 });
    const looked = page.waitForResponse(url);
    await confirm(page, 'Stop sharing', 'Stop sharing');
    await (await looked).finished();
    // By the settings of the stack, its gateway gives up later than this.
    for (let second = 0; second < 15; second += 1) await page.clock.runFor(1_000);
    const claims = await page.getByRole('alert').allTextContents();
    expectStatus(200, await send(url, { method: 'DELETE', bearer: owner }));
    await page.clock.runFor(1_000);
    await page.getByText('Morning Run no longer has access.').waitFor();
    expect([claims, await page.getByRole('alert').count()]).toEqual([[], 0]);
  });

  test('a state that cannot be read is shown as unknown until the next successful check', async () => {
    const { owner, path } = await connect('doubter');
    const visitor = await visits.open(path, { session: owner });
    const { page } = visitor;
    let isAway = true;
    await page.route('**/grants/*', (route) => (isAway ? route.abort('connectionreset') : route.continue()));
    await visitor.loseAnswer(() => confirm(page, 'Stop sharing', 'Stop sharing'));
    const alert = page.getByRole('alert');
    await alert.getByText("We couldn't confirm that sharing has stopped.").waitFor();
    await visitor.takePictures('connected-app-unknown');
    isAway = false;
    await page.evaluate(COME_BACK);
    await alert.getByText('Sharing has not stopped yet.').waitFor();
    await confirm(page, 'Stop sharing', 'Stop sharing');
    await page.getByText('Morning Run no longer has access.').waitFor();
    expect(await alert.count()).toBe(0);
  });

  test('removed scopes are shown as removed', async () => {
    const { owner, path } = await connect('lost-answers-narrower', [HEART, 'read:weight']);
    const { page } = await visits.open(path, { session: owner });
    await page.getByText('Heart', { exact: true }).click();
    await page.route('**/grants/*', loseAnswer, { times: 1 });
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    expect([await page.getByRole('checkbox').count(), await page.getByRole('alert').count()]).toEqual([1, 0]);
  });

  test('edits made during a change are kept, and the outcome of the change is shown', async () => {
    const { owner, path } = await connect('editor', [HEART, 'read:weight']);
    const { page } = await visits.open(path, { session: owner });
    const firstDay = page.getByLabel('Earliest data shared');
    const share = page.getByRole('button', { name: 'Save changes' });
    const { promise: edited, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/grants/*', (route) => edited.then(() => route.continue()), { times: 1 });
    await page.getByText('Heart', { exact: true }).click();
    const asked = page.waitForRequest((request) => request.method() === 'PATCH');
    await share.click();
    await asked;
    await firstDay.fill('2026-01-01');
    await page.locator('button[aria-disabled=true]', { hasText: 'Save changes' }).waitFor();
    goOn();
    await page.getByText('Saved. Your later changes are not saved yet.').waitFor();
    expect([await page.getByRole('checkbox').count(), await firstDay.inputValue()]).toEqual([
      1,
      '2026-01-01',
    ]);
    await share.click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await page.getByText('from 1 Jan 2026', { exact: true }).waitFor();
    expect(await firstDay.inputValue()).toBe('');
  });

  test('ended sharing of all apps is shown as ended', async () => {
    const { owner } = await connect('lost-answers-leaver');
    const other = await registerApp(app.gateway, session, { name: 'Second' });
    await other.connect(owner, [HEART]);
    const { page } = await visits.open('/apps', { session: owner });
    await page.route('**/revoke-all', loseAnswer, { times: 1 });
    await confirm(page, 'Stop sharing with all', 'Stop sharing');
    await page.getByRole('heading', { name: 'No app can read your data' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('a registered app is found, and its lost secret is replaced by a visible one', async () => {
    const maker = await signIn(visits.stack, 'web-lost-answers-maker');
    const visitor = await visits.open('/console/new', { session: maker });
    const { page } = visitor;
    await page.getByLabel('Name', { exact: true }).fill('Lost and Found');
    await page.getByLabel('Redirect URIs').fill('http://localhost:9999/callback');
    await page.getByText('read:profile', { exact: true }).click();
    await page.route('**/developer/apps', loseAnswer, { times: 1 });
    await page.getByRole('button', { name: 'Register' }).click();
    await page.getByRole('heading', { name: 'The app is registered' }).waitFor();
    await visitor.takePictures('console-registration-lost');
    await page.getByRole('link', { name: 'Open Lost and Found' }).click();

    await page.route('**/rotate-secret', loseAnswer, { times: 1 });
    await confirm(page, 'Rotate the secret', 'Rotate');
    await page.getByText('The secret was rotated, but the new one did not reach this page.').waitFor();
    await visitor.takePictures('console-rotation-lost');
    await page.route('**/rotate-secret', (route) => route.fulfill({ status: 500, json: {} }), { times: 1 });
    await visitor.loseAnswer(() => confirm(page, 'Rotate the secret', 'Rotate'));
    await page.getByText('The secret was not rotated.').waitFor();
    await confirm(page, 'Rotate the secret', 'Rotate');
    await page.getByText('Copy the secret now.').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);

    await page.route('**/status', loseAnswer, { times: 1 });
    await confirm(page, 'Suspend', 'Suspend');
    await page.getByText('Suspended', { exact: true }).waitFor();
    await page.getByLabel('Description').fill('For runners');
    await page.route('**/developer/apps/*', loseAnswer, { times: 1 });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

describeWithChromium('the pages keep people from accidents:', () => {
  let session: string;

  beforeAll(async () => {
    session = await signIn(visits.stack, 'web-safeguards-ada');
  });

  test('a page sends its own origin when it claims a request, for browsers without Fetch Metadata', async () => {
    const { body } = expectStatus(201, await app.authorize([HEART]));
    const { page } = await visits.open(body.approval_uri, { session });
    const claiming = page.waitForRequest((request) => request.url().includes('/partner/consent/pending/'));
    await page.reload();
    const referer = (await (await claiming).headerValue('referer')) ?? '';
    expect(referer.startsWith(`${visits.stack.gateway}/`)).toBe(true);
  });

  test('a request that takes too long is aborted with an explanation', async () => {
    const { page } = await visits.open('/', { session });
    await page.clock.install();
    await page.route('**/partner/consent/grants*', () => undefined);
    const asked = page.waitForRequest('**/partner/consent/grants?status=active**');
    await page.getByRole('link', { name: 'Connected apps' }).first().click();
    await asked;
    await page.clock.runFor(20_000);
    await page.getByRole('alert').getByText('The service did not answer within 20 seconds.').waitFor();
  });

  test('a response that is not JSON counts as no response', async () => {
    const user = await signIn(visits.stack, 'traveller');
    const { grantId } = await app.connect(user, [HEART]);
    const visitor = await visits.open(`/apps/${grantId}`, { session: user });
    const { page } = visitor;
    const portal = { status: 200, contentType: 'text/html', body: '<h1>Welcome to our hotel</h1>' };
    await page.route('**/grants/*', (route) => route.fulfill(portal), { times: 1 });
    await page.getByRole('button', { name: 'Stop sharing' }).click();
    const confirmation = page.getByRole('alertdialog').getByRole('button', { name: 'Stop sharing' });
    await visitor.loseAnswer(() => confirmation.click());
    await page.getByText('Sharing has not stopped yet.').waitFor();
    await page.route('**/accesses/summary*', (route) => route.fulfill(portal));
    await page.getByRole('link', { name: 'Access history' }).click();
    await page.getByText('Something between you and the service answered in its place.').waitFor();
  });

  test('a secret that is being rotated cannot be rotated again', async () => {
    const maker = await signIn(visits.stack, 'web-safeguards-maker');
    const { clientId } = await registerApp(app.gateway, maker);
    const { page } = await visits.open(`/console/${clientId}`, { session: maker });
    const { promise: looked, resolve: goOn } = Promise.withResolvers<void>();
    const sent: string[] = [];
    await page.route('**/rotate-secret', async (route) => {
      sent.push(route.request().method());
      await looked;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Rotate the secret' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Rotate' }).dblclick();
    const busy = page.getByRole('button', { name: 'One moment…' });
    expect(await busy.getAttribute('aria-disabled')).toBe('true');
    await busy.press('Enter');
    expect(await page.getByRole('alertdialog').count()).toBe(0);
    goOn();
    await page.getByText('Copy the secret now.').waitFor();
    expect(sent).toEqual(['POST']);
  });

  test('a person can sign out and is then asked to sign in', async () => {
    const { visitor, page } = await visits.enter('/apps', 'safeguards-leaver');
    await page.route('**/sign-out', (route) => route.fulfill({ status: 503, json: {} }), { times: 1 });
    await visitor.loseAnswer(() => page.getByRole('button', { name: 'Sign out' }).click());
    await page.getByRole('alert').getByText('You are still signed in.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('sign-out-failed');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await visitor.goto('/apps');
    await page.getByRole('heading', { name: 'Please sign in' }).waitFor();
  });
});

describeWithChromium('after a mistake', () => {
  /** Opens an address in a new window of a browser with another language, or without script. */
  const openPlainly = async (path: string, options: { locale?: string; javaScriptEnabled?: boolean }) => {
    const context = await visits.browser.newContext(options);
    try {
      const page = await context.newPage();
      const response = await page.goto(visits.stack.gateway + path);
      const text = await page.locator('body').textContent();
      return { status: response?.status(), language: await page.locator('html').getAttribute('lang'), text };
    } finally {
      await context.close();
    }
  };

  test.each(['/histroy', '/%zz', '/assets/gone.js'])(
    'a person who opens the mistyped address %s is told so, without having to sign in',
    async (path) => {
      const visitor = await visits.open('/', {});
      const answer = visitor.page.waitForResponse((response) => response.url().endsWith(path));
      await visitor.goto(path);
      expect((await answer).status()).toBe(404);
      const { page } = visitor;
      await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
      expect(await page.title()).toBe('There is no such page · Your health data');
      await page.getByRole('link', { name: 'Go to the start page' }).click();
      await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'no such page' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/');
    },
  );

  test('the page about a mistyped address has no barrier', async () => {
    const { visitor } = await visits.enter('/histroy', 'web-mistakes-ada');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('no-such-page');
  });

  test('a browser that blocks storage shows the pages, in the language that is chosen', async () => {
    const session = await signIn(visits.stack, 'web-mistakes-ada');
    const visitor = await visits.open('/', { session });
    await visitor.page.addInitScript(() => {
      Object.defineProperty(globalThis, 'localStorage', {
        get() {
          throw new Error('The storage is blocked.');
        },
      });
    });
    await visitor.goto('/histroy');
    await visitor.speak('de');
    await visitor.page.getByRole('heading', { name: 'Diese Seite gibt es nicht' }).waitFor();
  });

  test('a browser without script is told in both languages that the pages need it', async () => {
    const { text } = await openPlainly('/apps', { javaScriptEnabled: false });
    expect(text).toContain('These pages need JavaScript.');
    expect(text).toContain('Diese Seiten brauchen JavaScript.');
  });

  test.each([
    ['de-CH', 'de', 'Dieser Link funktioniert nicht', 'Für den Entwickler der App'],
    ['fr-CH', 'en', 'This link does not work', 'For the app’s developer'],
  ])(
    'a bad link of an app is explained to a browser in %s in %s',
    async (locale, language, title, heading) => {
      const answer = await openPlainly('/oauth/authorize?client_id=unknown', { locale });
      expect([answer.status, answer.language]).toEqual([400, language]);
      expect(answer.text).toContain(title);
      expect(answer.text).toContain(heading);
    },
  );

  test('a mistake in a request is explained, with a way back whose address is shown', async () => {
    const app = await registerApp(visits.stack.gateway, await signIn(visits.stack, 'web-mistakes-maker'));
    const query = new URLSearchParams({ client_id: app.clientId, redirect_uri: app.redirectUri, scope: 'x' });
    const visitor = await visits.open(`/oauth/authorize?response_type=code&${query}`, {});
    await visitor.page.getByRole('heading', { name: 'This request has a mistake' }).waitFor();
    const back = visitor.page.getByRole('link', { name: `Return to ${new URL(app.redirectUri).host}` });
    expect(await back.getAttribute('href')).toContain('error=invalid_scope');
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('gateway-request-with-mistake');
  });
});
