import { beforeAll, expect, test } from '@jest/globals';
import { type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { eventually } from '@phds/test-kit/conditions';
import { Connections, expectToFit, PURPOSE } from '../src/connections.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const DAY_MS = 86_400_000;
const HOST = 'localhost:9999';

describeWithChromium('the pages of connected apps', pagesOfConnectedApps);

function pagesOfConnectedApps(): void {
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
      privacyPolicyUrl: 'https://run.example/privacy',
    });
    app = new Connections(runner);
  });

  const somebody = () => {
    people += 1;
    return signIn(visits.stack, `web-connections-${people}`);
  };
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
}
