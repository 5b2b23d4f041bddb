import { beforeAll, expect, test } from '@jest/globals';
import { type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';

describeWithChromium('the pages of people', pagesOfPeople);

function pagesOfPeople(): void {
  const visits = prepareVisits();
  let app: PartnerApp;
  let session: string;

  beforeAll(async () => {
    const { stack } = visits;
    session = await signIn(stack, 'web-people-ada');
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
  });

  const connect = async (
    user: string,
    scopes: readonly string[],
  ): Promise<{ user: string; tokens: Tokens }> => {
    const userSession = await signIn(visits.stack, user);
    return { user: userSession, tokens: await app.connect(userSession, scopes) };
  };
  const readHeart = ({ accessToken }: Tokens) => app.read(accessToken, '/api/v1/health-data/heart');

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
    const visitor = await visits.open('/apps', { session: await signIn(visits.stack, 'newcomer') });
    const { page } = visitor;
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
    const second = await registerApp(visits.stack.gateway, await signIn(visits.stack, 'developer'), {
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
}
