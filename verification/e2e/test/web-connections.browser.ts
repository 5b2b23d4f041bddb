import { Buffer } from 'node:buffer';
import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { eventually } from '@phds/test-kit/conditions';
import type { Page } from 'playwright-core';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { Connections, expectToFit, PURPOSE } from '../src/connections.ts';
import { describeWithChromium, prepareVisits, readDownload } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const DAY_MS = 86_400_000;
const HOST = 'localhost:9999';
const WEIGHT = 'read:weight';
const DIARY = { name: 'Diabetes Diary', privacyPolicyUrl: 'https://diary.example/privacy' };
const BROKER = { name: 'Data Broker', privacyPolicyUrl: 'https://broker.example/terms' };
const BOTH = 'Diabetes Diary (now: Data Broker)';

const visits = prepareVisits();
let developer: string;
let runner: PartnerApp;
let app: Connections;
let people = 0;

beforeAll(async () => {
  developer = await signIn(visits.stack, 'developer');
  runner = await registerApp(visits.stack.gateway, developer, {
    name: 'Morning Run',
    developerName: 'Run Labs GmbH',
    description: 'Plans your training.\nFor beginners and for runners.',
    homepageUrl: 'https://run.example/',
    privacyPolicyUrl: 'https://run.example/a-rather-long-address/of-the-privacy-policy/2026',
  });
  app = new Connections(runner);
});

const somebody = () => {
  people += 1;
  return signIn(visits.stack, `web-connections-${people}`);
};

describeWithChromium('the pages of people', () => {
  let session: string;

  beforeAll(async () => {
    session = await signIn(visits.stack, 'web-people-ada');
  });

  const connect = async (
    user: string,
    scopes: readonly string[],
  ): Promise<{ user: string; tokens: Tokens }> => {
    const userSession = await signIn(visits.stack, user);
    return { user: userSession, tokens: await runner.connect(userSession, scopes) };
  };
  const readHeart = ({ accessToken }: Tokens) => runner.read(accessToken, '/api/v1/health-data/heart');

  test('a signed-out person is asked to sign in on each page', async () => {
    const visitor = await visits.open('/apps', {});
    await visitor.takePictures('signed-out');
    for (const path of ['/apps', '/history', '/data', '/console']) {
      await visitor.goto(path);
      await visitor.page.getByRole('heading', { name: 'Please sign in' }).waitFor();
    }
    expect(await visitor.findBarriers()).toEqual([]);
  });

  test('a person who shares with nobody is told so', async () => {
    const { visitor, page } = await visits.enter('/apps', 'newcomer');
    await page.getByRole('heading', { name: 'No app can read your data' }).waitFor();
    await visitor.takePictures('connected-apps-none');
    await page.getByRole('link', { name: 'Access history' }).click();
    await page.getByRole('heading', { name: 'No reads yet' }).waitFor();
    await visitor.takePictures('access-history-none');
  });

  test('a page that cannot be loaded explains why, and can retry', async () => {
    const visitor = await visits.open('/', { session });
    const { page } = visitor;
    await page.route('**/partner/consent/grants*', (route) =>
      route.fulfill({ status: 429, json: { code: 'RATE_LIMITED', detail: 'Too many requests.' } }),
    );
    await page.getByRole('link', { name: 'Connected apps' }).first().click();
    await page.getByText('That was too often. Wait a minute, then try again.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('connected-apps-not-loaded');
    await page.unroute('**/partner/consent/grants*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'No app can read your data' }).waitFor();
  });

  test('a missing item is reported with a way to continue', async () => {
    const visitor = await visits.open('/apps/none', { session });
    await visitor.page.getByRole('heading', { name: 'There is no such connection' }).waitFor();
    await visitor.takePictures('connected-app-not-there');
    await visitor.page.getByRole('main').getByRole('link', { name: 'Connected apps' }).click();
    await visitor.page.getByRole('heading', { name: 'No app can read your data' }).waitFor();
  });

  test('sharing stops only after confirmation', async () => {
    const { user, tokens } = await connect('stopper', [HEART]);
    const visitor = await visits.open('/apps', { session: user });
    const { page } = visitor;
    await page.getByRole('link', { name: 'Morning Run' }).click();
    await page.getByRole('button', { name: 'Stop sharing' }).click();
    expect(await page.getByRole('alertdialog').textContent()).toContain(
      'Morning Run loses access immediately.',
    );
    expect(await visitor.findBarriers()).toEqual([]);
    // Nothing moves, so the reduced-motion preference is respected.
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    await visitor.takePictures('connected-app-stop-sharing-dialog');
    await page.keyboard.press('Escape');
    expect((await readHeart(tokens)).status).toBe(200);
    const stop = async () => {
      await page.getByRole('button', { name: 'Stop sharing' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Stop sharing' }).click();
    };
    await page.context().setOffline(true);
    await visitor.loseAnswer(stop);
    await page.getByRole('alert').getByText("We couldn't confirm that sharing has stopped.").waitFor();
    await page.context().setOffline(false);
    expect((await readHeart(tokens)).status).toBe(200);
    const { promise: looked, resolve: goOn } = Promise.withResolvers<void>();
    await page.route('**/partner/consent/grants/*', (route) => looked.then(() => route.continue()));
    await stop();
    const busy = page.getByRole('button', { name: 'One moment…' });
    expect(await busy.getAttribute('aria-disabled')).toBe('true');
    await visitor.takePictures('connected-app-stopping');
    goOn();
    await page.getByText('Morning Run no longer has access.').waitFor();
    expect((await readHeart(tokens)).status).toBe(401);
    await visitor.takePictures('connected-app-stopped');
  });

  test('all sharing stops with one confirmation', async () => {
    const { user, tokens } = await connect('leaver', [HEART]);
    const second = await registerApp(visits.stack.gateway, developer, {
      name: 'Second',
    });
    const others = await second.connect(user, [HEART]);
    const visitor = await visits.open('/apps', { session: user });
    const { page } = visitor;
    await visitor.takePictures('connected-apps-two');
    await page.getByRole('button', { name: 'Stop sharing with all' }).click();
    await visitor.takePictures('connected-apps-stop-all-dialog');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Stop sharing' }).click();
    await page.getByRole('heading', { name: 'No app can read your data' }).waitFor();
    await visitor.takePictures('connected-apps-all-stopped');
    expect([(await readHeart(tokens)).status, (await readHeart(others)).status]).toEqual([401, 401]);
  });

  test('the start page loads less than 150 kB of compressed script', async () => {
    const { page } = await visits.open('/', { session });
    const names = await page
      .locator('script[src], link[rel=modulepreload]')
      .evaluateAll((elements) =>
        elements.map((element) => element.getAttribute('src') ?? element.getAttribute('href') ?? ''),
      );
    const headers = { 'Accept-Encoding': 'gzip' };
    const answers = await Promise.all(
      names.map((name) => page.request.fetch(visits.stack.gateway + name, { headers, method: 'HEAD' })),
    );
    const bytes = answers.reduce((sum, answer) => sum + Number(answer.headers()['content-length']), 0);
    expect(answers.every((answer) => answer.ok())).toBe(true);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThan(150_000);
  });
});

describeWithChromium('the pages of connected apps', () => {
  test('apps of the same name are told apart, and each card says what it reads and until when', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART, MOOD]);
    await app.readHeart(tokens);
    const twin = await registerApp(runner.gateway, developer, { name: 'Morning Run' });
    await twin.connect(user, [HEART]);
    const other = await registerApp(runner.gateway, developer, { name: 'Diary' });
    await app.stop(user, await other.connect(user, [HEART]));
    const expired = await registerApp(runner.gateway, developer, { name: 'Sleeper' });
    const short = await expired.connect(user, [HEART]);
    await app.narrow(user, short, { expiresAt: new Date(Date.now() + 1_500).toISOString() });
    await eventually(async () => (await app.look(user, short)).status === 'expired');

    const visitor = await visits.open('/apps', { session: user });
    const { page } = visitor;
    const cards = page.getByRole('region', { name: 'Morning Run' });
    await cards.nth(1).waitFor();
    expect(await cards.getByText(`${HOST} · ${runner.clientId}`).count()).toBe(1);
    expect(await cards.getByText(`${HOST} · ${twin.clientId}`).count()).toBe(1);
    const card = cards.filter({ hasText: runner.clientId });
    await card.getByText('Heart and Mood').waitFor();
    await card.getByText('(1 read in all)').waitFor();
    await cards.filter({ hasText: twin.clientId }).getByText("Hasn't read anything yet").waitFor();
    const described = await card.getByRole('link').getAttribute('aria-describedby');
    expect(await page.locator(`[id="${described}"]`).textContent()).toContain(runner.clientId);
    await page.getByRole('region', { name: 'Stopped' }).getByText('Diary').waitFor();
    await page.getByRole('region', { name: 'Expired' }).getByText('Sleeper').waitFor();
    await visitor.takePictures('connected-apps');
    await expectToFit(visitor);
  });

  test('an end that is near and an app that does not read are pointed out on the card and the page', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    // Noon, so that no change of the clock in the browser's zone moves it to another day.
    const end = Math.floor(Date.now() / DAY_MS + 60) * DAY_MS + DAY_MS / 2;
    await app.narrow(user, tokens, { expiresAt: new Date(end).toISOString() });
    const visitor = await visits.open('/apps', { session: user });
    const { page } = visitor;
    expect(await page.getByText('Ends in').count()).toBe(0);
    await page.clock.setSystemTime(end - 5 * DAY_MS);
    await visitor.goto('/apps');
    await page.getByText('Ends in 5 days').waitFor();
    await page.getByText(/^Hasn't read anything since you agreed on .+; you can stop sharing\.$/).waitFor();
    await visitor.takePictures('connected-apps-ending');
    await page.getByRole('link', { name: 'Morning Run' }).click();
    await page.getByText('Ends in 5 days').waitFor();
    await page.getByText('To share longer, start in Morning Run.').waitFor();
    await page.getByText(/^Hasn't read anything since you agreed/).waitFor();
    await visitor.takePictures('connected-app-ending');
    await expectToFit(visitor);
  });

  test('the page of an app shows its purpose, domain and links, and what is shared', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART, MOOD], { dataFrom: '2026-01-01' });
    await app.readHeart(tokens);
    const visitor = await visits.open(`/apps/${tokens.grantId}`, { session: user });
    const { page } = visitor;
    const about = page.getByRole('region', { name: 'About Morning Run' });
    await about.getByText(HOST).waitFor();
    await about.getByText('Run Labs GmbH').waitFor();
    await about.getByText('Plans your training.').waitFor();
    await about.getByText(PURPOSE).waitFor();
    expect(await about.getByRole('link', { name: 'Website' }).getAttribute('href')).toBe(
      'https://run.example/',
    );
    const sharing = page.getByRole('region', { name: 'Sharing', exact: true });
    await sharing.getByText('Heart and Mood').waitFor();
    await sharing.getByText('from 1 Jan 2026').waitFor();
    await visitor.takePictures('connected-app-with-reads');
    await expectToFit(visitor);
  });

  test('neither Enter in a field nor a day that is not possible changes what is shared', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART, MOOD]);
    const visitor = await visits.open(`/apps/${tokens.grantId}`, { session: user });
    const { page } = visitor;
    const changes: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') changes.push(request.url());
    });
    const firstDay = page.getByLabel('Earliest data shared');
    await page.getByText('Mood', { exact: true }).click();
    await firstDay.fill('2026-01-01');
    await firstDay.press('Enter');
    await page.getByLabel('Last day of sharing').press('Enter');
    await firstDay.fill(new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, 10));
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('This day is in the future. Choose today or an earlier day.').waitFor();
    await page.locator('input:focus[aria-invalid=true]').waitFor();
    await visitor.takePictures('connected-app-future-day');
    await expectToFit(visitor);
    await page.getByText('Heart', { exact: true }).last().click();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('To stop sharing everything, select “Stop sharing” above.').waitFor();
    expect(changes).toEqual([]);
  });

  test('an app is reported with a reason, and a refused report keeps what was written', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    const visitor = await visits.open(`/apps/${tokens.grantId}`, { session: user });
    const { page } = visitor;
    await page.getByRole('button', { name: 'Report this app' }).click();
    const dialog = page.getByRole('dialog', { name: 'Report Morning Run' });
    const send = dialog.getByRole('button', { name: 'Send report' });
    await send.click();
    await dialog.getByText('Choose what is wrong.').waitFor();
    await dialog.getByText('It pretends to be another app or company').click();
    const words = dialog.getByLabel('What happened? (optional)');
    await words.fill('x'.repeat(1_001));
    await dialog.getByText('At most 1,000 characters. You have written 1,001.').waitFor();
    await words.fill('It calls itself my clinic.');
    await visitor.takePictures('report-dialog');
    expect(await visitor.findBarriers()).toEqual([]);
    const refusal = { status: 429, json: { code: 'RATE_LIMITED', detail: 'Too many reports.' } };
    await page.route('**/report', (route) => route.fulfill(refusal), { times: 1 });
    await send.click();
    await dialog.getByText('as many reports as we accept in one day').waitFor();
    expect(await words.inputValue()).toBe('It calls itself my clinic.');
    await visitor.takePictures('report-refused');
    const report = page.waitForRequest('**/report');
    await send.click();
    expect((await report).postDataJSON()).toEqual({
      reason: 'impersonation',
      text: 'It calls itself my clinic.',
    });
    await page.getByRole('status').getByText('We have received your report about Morning Run.').waitFor();
    await page.locator('button:focus', { hasText: 'Report this app' }).waitFor();
    await visitor.takePictures('report-sent');
  });

  test('an app whose access has stopped is asked to delete what it has read', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    await app.readHeart(tokens);
    await app.stop(user, tokens);
    const visitor = await visits.open(`/apps/${tokens.grantId}`, { session: user });
    const { page } = visitor;
    await page.getByText('It may keep what it already read; ask Morning Run to delete it.').waitFor();
    await visitor.takePictures('connected-app-deletion-offered');
    await expectToFit(visitor);
    const ask = page.getByRole('button', { name: 'Ask Morning Run to delete my data' });
    const unavailable = { status: 503, json: {} };
    await page.route('**/deletion-request', (route) => route.fulfill(unavailable), { times: 1 });
    await visitor.loseAnswer(() => ask.click());
    await page.getByRole('alert').getByText('Your request was not sent.').waitFor();
    await ask.click();
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'Europe/Berlin' });
    const { deletionRequestedAt } = await eventually(async () => {
      const grant = await app.look(user, tokens);
      expect(grant.deletionRequestedAt).not.toBeNull();
      return grant;
    });
    const asked = `You asked Morning Run on ${day.format(new Date(deletionRequestedAt))} to delete your data.`;
    await page.getByText(asked).waitFor();
    await page.locator('h1:focus').waitFor();
    expect([await ask.count(), await page.getByRole('alert').count()]).toEqual([0, 0]);
    await visitor.takePictures('connected-app-deletion-asked');
    await page.getByRole('link', { name: 'View receipt' }).click();
    await page.getByText('You asked the app to delete your data.').waitFor();
  });

  test('an app that has read nothing is not asked to delete anything', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    await app.stop(user, tokens);
    const { page } = await visits.open(`/apps/${tokens.grantId}`, { session: user });
    await page.getByRole('heading', { name: 'It read none of your data.' }).waitFor();
    expect(await page.getByText("Hasn't read anything yet").count()).toBe(0);
    expect(await page.getByRole('button', { name: /delete/ }).count()).toBe(0);
  });
});

describeWithChromium('the page of a receipt', () => {
  test('a receipt tells the whole life of a connection, and its signed file can be saved', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    await app.connect(user, [MOOD, WEIGHT], { dataFrom: '2026-01-01' });
    await app.narrow(user, tokens, { scopes: [HEART, MOOD] });
    await app.stop(user, tokens);
    const visitor = await visits.open(`/apps/${tokens.grantId}`, { session: user });
    const { page } = visitor;
    await page.getByRole('link', { name: 'View receipt' }).click();
    await page.getByRole('heading', { level: 1, name: 'Receipt for Morning Run' }).waitFor();
    const [first, again] = [page.getByRole('region').nth(0), page.getByRole('region').nth(1)];
    await first.getByRole('heading', { name: /^You agreed on/ }).waitFor();
    await first.getByText(PURPOSE).waitFor();
    await first.getByText('Run Labs GmbH').waitFor();
    await first.getByText('English').waitFor();
    expect(await first.getByRole('listitem').allTextContents()).toHaveLength(1);
    await again.getByRole('heading', { name: /^You agreed again on/ }).waitFor();
    await again.getByText('from 1 Jan 2026').waitFor();
    expect(await again.locator('ul[lang=en] > li').count()).toBe(2);
    const events = page.getByRole('region', { name: 'What happened' }).getByRole('listitem');
    expect((await events.allTextContents()).map((line) => line.replace(/\..*/s, ''))).toEqual([
      'You agreed',
      'You agreed',
      'You changed sharing',
      'You stopped sharing',
    ]);
    await visitor.takePictures('receipt');
    await expectToFit(visitor);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download receipt' }).click();
    const saved = JSON.parse(await readDownload(download));
    expect(saved).toEqual({
      grantId: tokens.grantId,
      receipt: expect.stringMatching(/^[\w-]+(\.[\w-]+){2}$/),
    });
    await expectToPrint(page);
  });

  /** On paper there are only the words of the receipt. */
  const expectToPrint = async (page: Page) => {
    await page.emulateMedia({ media: 'print' });
    await page.getByRole('heading', { name: 'What happened' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByRole('banner').count()).toBe(0);
    await page.emulateMedia({ media: 'screen' });
  };

  test('a receipt of an earlier release says what was not stored', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    const since = '2025-02-01T08:00:00.000Z';
    const recipient = {
      party_name: 'Morning Run',
      party_url: null,
      privacy_notice: null,
      redirect_host: null,
      as_shown: false,
      as_of: since,
    };
    const content = {
      record_id: tokens.grantId,
      pii_principal_id: 'somebody',
      iat: Date.parse(since) / 1_000,
      purposes: [{ purpose: null, language: '', recipient, pii_information: [] }],
      events: [
        {
          event_time: '2025-01-01T08:00:00.000Z',
          event_state: 'given',
          validity_duration: 'PT86400S',
          pii_types: [HEART],
          pii_since: null,
        },
        {
          event_time: '2025-01-02T08:00:00.000Z',
          event_state: 'expired',
          validity_duration: 'PT0S',
          pii_types: [],
          pii_since: null,
        },
      ],
    };
    const payload = Buffer.from(JSON.stringify(content)).toString('base64url');
    const visitor = await visits.open('/apps', { session: user });
    const { page } = visitor;
    const data = { grantId: tokens.grantId, receipt: `e30.${payload}.e30` };
    await page.route('**/receipt', (route) =>
      route.request().resourceType() === 'fetch' ? route.fulfill({ json: { data } }) : route.continue(),
    );
    await visitor.goto(`/apps/${tokens.grantId}/receipt`);
    await page.getByText('Name and links are those of 1 Feb 2025.').waitFor();
    await page.getByText('The words on the screen were not stored at that time.').waitFor();
    await page.getByText('Sharing expired.').waitFor();
    await visitor.takePictures('receipt-of-earlier-release');
    await expectToFit(visitor);
  });

  test('a receipt that the page cannot read is still offered as a file', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART]);
    const visitor = await visits.open('/apps', { session: user });
    const { page } = visitor;
    const data = { grantId: tokens.grantId, receipt: 'e30.bnVsbA.e30' };
    await page.route('**/receipt', (route) =>
      route.request().resourceType() === 'fetch' ? route.fulfill({ json: { data } }) : route.continue(),
    );
    await visitor.goto(`/apps/${tokens.grantId}/receipt`);
    await page.getByText("This receipt can't be shown here. You can still download it.").waitFor();
    await visitor.takePictures('receipt-unreadable');
    await expectToFit(visitor);
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download receipt' }).click();
    expect(JSON.parse(await readDownload(download))).toEqual(data);
  });

  test('sharing that ended with its app is explained on the page and on the receipt', async () => {
    const user = await somebody();
    const ended = await registerApp(visits.stack.gateway, developer, { name: 'Short Life' });
    const { grantId } = await ended.connect(user, [HEART]);
    const url = `${ended.gateway}/developer/apps/${ended.clientId}/status`;
    expectStatus(200, await send(url, { bearer: developer, json: { status: 'revoked' } }));
    const visitor = await visits.open(`/apps/${grantId}`, { session: user });
    const { page } = visitor;
    await page.getByText('because the app was shut down').waitFor();
    await visitor.takePictures('connected-app-shut-down');
    await page.getByRole('link', { name: 'View receipt' }).click();
    await page.getByText('Sharing stopped because the app was shut down.').waitFor();
  });

  test('sharing that the app ended itself is told apart from that, on the page and on the receipt', async () => {
    const user = await somebody();
    const leaving = await registerApp(visits.stack.gateway, developer, { name: 'Said Goodbye' });
    const { grantId } = await leaving.connect(user, [HEART]);
    const url = `${leaving.gateway}/oauth/grants/${grantId}`;
    expectStatus(200, await send(url, { method: 'DELETE', bearer: await leaving.userlessToken() }));
    const visitor = await visits.open(`/apps/${grantId}`, { session: user });
    const { page } = visitor;
    await page.getByText(', by the app').waitFor();
    await visitor.takePictures('connected-app-ended-by-the-app');
    await page.getByRole('link', { name: 'View receipt' }).click();
    await page.getByText('The app stopped the sharing.').waitFor();
  });

  test("another person's receipt is reported as missing", async () => {
    const tokens = await app.connect(await somebody(), [HEART]);
    const visitor = await visits.open(`/apps/${tokens.grantId}/receipt`, { session: await somebody() });
    await visitor.page.getByRole('heading', { name: 'There is no such connection' }).waitFor();
  });
});

describeWithChromium('an app that changes its name and links', () => {
  let diary: PartnerApp;
  let session: string;

  beforeEach(async () => {
    session = await somebody();
    diary = await registerApp(visits.stack.gateway, developer, DIARY);
  });

  const rename = async () => {
    const url = `${visits.stack.gateway}/developer/apps/${diary.clientId}`;
    expectStatus(200, await send(url, { method: 'PATCH', bearer: developer, json: BROKER }));
  };

  test("appears with both names on the person's pages, with each change and its time", async () => {
    const { accessToken, grantId } = await diary.connect(session, [HEART]);
    await diary.read(accessToken, '/api/v1/health-data/heart');
    await rename();
    const visitor = await visits.open('/apps', { session });
    const { page } = visitor;
    await page.getByText('This app has changed its name and its links since you agreed.').waitFor();
    await visitor.takePictures('connected-apps-renamed');
    expect(await visitor.findBarriers()).toEqual([]);
    await page.getByRole('link', { name: BOTH }).click();
    await page.getByRole('heading', { level: 1, name: BOTH }).waitFor();
    const changes = await page.getByRole('listitem').filter({ hasText: 'It changed' }).allTextContents();
    const url = `${visits.stack.gateway}/partner/consent/grants/${grantId}`;
    const { appChanges } = (await send(url, { bearer: session })).body.data;
    const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'Europe/Berlin' });
    const on = day.format(new Date(appChanges[0].at));
    expect(changes).toEqual([
      `It changed its name on ${on} from “Diabetes Diary” to “Data Broker”.`,
      `It changed the link to its privacy policy on ${on} from ${DIARY.privacyPolicyUrl} to ${BROKER.privacyPolicyUrl}.`,
    ]);
    const policy = page.getByRole('link', { name: 'Privacy policy when you agreed' });
    expect(await policy.getAttribute('href')).toBe(DIARY.privacyPolicyUrl);
    await visitor.takePictures('connected-app-renamed');
    await visitor.lookAs('phone');
    expect([await visitor.findBarriers(), await visitor.findOverflow(2)]).toEqual([[], []]);
    await visitor.lookAs('desktop');
    await visitor.goto('/history');
    await page.locator('summary', { hasText: BOTH }).waitFor();
    expect(await page.getByLabel('App', { exact: true }).locator('option').allTextContents()).toEqual([
      'All apps',
      BOTH,
    ]);
    await visitor.takePictures('access-history-renamed');
  });

  test('keeps its name on an open approval screen; the next request shows the new name beside the old one', async () => {
    const { body } = expectStatus(201, await diary.authorize([HEART]));
    const first = await visits.open(body.approval_uri, { session });
    const heading = 'Diabetes Diary wants to read your health data';
    await first.page.getByRole('heading', { name: heading }).waitFor();
    await rename();
    await first.page.reload();
    await first.page.getByRole('heading', { name: heading }).waitFor();
    const screen = new ApprovalScreen(first.page);
    await screen.choose('Heart');
    await first.leave(() => screen.share.click());
    const next = expectStatus(201, await diary.authorize([MOOD])).body;
    const visitor = await visits.open(next.approval_uri, { session });
    const { page } = visitor;
    await page.getByRole('heading', { name: 'Data Broker wants to read your health data' }).waitFor();
    await page.getByText('It was called “Diabetes Diary” when you agreed to that.').waitFor();
    await visitor.takePictures('approval-renamed-since');
    expect(await visitor.findBarriers()).toEqual([]);
  });
});
