import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
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
