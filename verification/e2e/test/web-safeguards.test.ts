import { beforeAll, expect, test } from '@jest/globals';
import { describeWithChromium, prepareVisits } from '@phds/e2e/visits';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';

const HEART = 'read:health-data:heart';
const DAY_MS = 86_400_000;
describeWithChromium('the pages keep people from accidents:', safeguards);

function safeguards(): void {
  const visits = prepareVisits();
  let app: PartnerApp;
  let session: string;

  beforeAll(async () => {
    const { stack } = visits;
    session = await signIn(stack, 'web-safeguards-ada');
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
  });

  const open = async (scopes: readonly string[], user = session) => {
    const { body } = expectStatus(201, await app.authorize(scopes));
    const visitor = await visits.open(body.approval_uri, { session: user });
    const url = `${app.gateway}/partner/consent/pending/${body.pending_id}`;
    const status = async () => (await send(url, { bearer: user })).body.data.status as string;
    const share = visitor.page.getByRole('button', { name: /^Share \d/ });
    const firstDay = visitor.page.getByLabel('Only data from this day on');
    return { visitor, page: visitor.page, status, share, firstDay };
  };

  test('a page sends its own origin when it claims a request, for browsers without Fetch Metadata', async () => {
    const { page } = await open([HEART]);
    const claiming = page.waitForRequest((request) => request.url().includes('/partner/consent/pending/'));
    await page.reload();
    const referer = (await (await claiming).headerValue('referer')) ?? '';
    expect(referer.startsWith(`${visits.stack.gateway}/`)).toBe(true);
  });

  test('end and first day of a connection stay unless changed, and a change is announced before approval', async () => {
    const user = await signIn(visits.stack, 'sharer');
    const terms = { expiresInDays: 365, dataFrom: '2026-01-01' };
    const { grantId } = await app.connect(user, [HEART, 'read:mood'], terms);
    const url = `${app.gateway}/partner/consent/grants/${grantId}`;
    const before = (await send(url, { bearer: user })).body.data;
    const { visitor, page, share, firstDay } = await open([HEART, 'read:weight'], user);
    const life = page.getByLabel('For how long');
    expect([await life.inputValue(), await firstDay.inputValue()]).toEqual(['kept', '2026-01-01']);
    await life.selectOption('30 days');
    await firstDay.fill('');
    await page
      .getByText(/^Heart/)
      .first()
      .click();
    const changes = page.getByRole('listitem');
    await changes.getByText('Heart will stop.').waitFor();
    await changes.getByText(/^All of it ends on .* instead of /).waitFor();
    await changes.getByText('All of it: data of all dates instead of data from 1 Jan 2026 on.').waitFor();
    await changes.getByText('Not asked for this time, so it goes on: Mood.').waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-changes-a-connection');
    await life.selectOption('kept');
    await firstDay.fill('2026-01-01');
    await page
      .getByText(/^Heart/)
      .first()
      .click();
    await visitor.leave(() => share.click());
    const after = (await send(url, { bearer: user })).body.data;
    const { expiresAt, dataFrom } = before;
    expect(after).toMatchObject({ expiresAt, dataFrom, scopes: [HEART, 'read:weight', 'read:mood'] });
  });

  test('Enter in a date field does not approve', async () => {
    const { page, status, firstDay } = await open([HEART]);
    const sent: string[] = [];
    page.on('request', (request) => sent.push(request.method()));
    await firstDay.fill('2026-01-01');
    await firstDay.press('Enter');
    await page.getByRole('checkbox').press('Enter');
    expect([sent, await status()]).toEqual([[], 'pending']);
  });

  test('a future first day is refused, and a partial date does not mean all dates', async () => {
    const { visitor, page, status, share, firstDay } = await open([HEART]);
    await firstDay.fill(new Date(Date.now() + 3 * DAY_MS).toISOString().slice(0, 10));
    await page.getByText('This day is in the future.').waitFor();
    await share.click();
    await firstDay.and(page.locator(':focus')).waitFor();
    expect(await visitor.findBarriers()).toEqual([]);
    await visitor.takePictures('approval-first-day-in-the-future');
    await firstDay.fill('');
    await firstDay.press('1');
    await share.click();
    await page.getByText('Complete the date, or clear it to share everything.').waitFor();
    expect(await status()).toBe('pending');
    await firstDay.fill('2026-01-01');
    await visitor.leave(() => share.click());
    expect(await status()).toBe('approved');
  });

  test('facts that a first day does not limit are listed as soon as one is chosen', async () => {
    const { visitor, page, firstDay } = await open(
      [HEART, 'read:medications', 'read:profile'],
      await signIn(visits.stack, 'factual'),
    );
    const sentence = page.getByText(
      'If you share Medications or Profile, Morning Run sees all of it, whatever first day you choose.',
    );
    expect(await sentence.count()).toBe(0);
    await firstDay.fill('2026-01-01');
    await sentence.waitFor();
    await visitor.takePictures('approval-standing-facts');
    const other = await open([HEART], await signIn(visits.stack, 'measured'));
    await other.firstDay.fill('2026-01-01');
    expect(await other.page.getByText('whatever first day you choose').count()).toBe(0);
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
    const visitor = await visits.open('/apps', { session: await signIn(visits.stack, 'safeguards-leaver') });
    const { page } = visitor;
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
}
