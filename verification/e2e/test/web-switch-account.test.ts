import { beforeAll, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const HEART = 'read:health-data:heart';
const MINUTE_MS = 60_000;
describeWithChromium('switching the account on the approval screen', switching);

function switching(): void {
  const visits = prepareVisits();
  let app: PartnerApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await registerApp(stack.gateway, await signIn(stack, 'developer'), { name: 'Morning Run' });
  });

  /** Opens a request on a page whose clock the test moves, and whose navigation to the sign-in page does not succeed. */
  const open = async (user: string) => {
    const session = await signIn(visits.stack, user);
    const { body } = expectStatus(201, await app.authorize([HEART]));
    const visitor = await visits.open('/signed-in', { session });
    const { page } = visitor;
    await page.clock.install();
    await visitor.goto(body.approval_uri);
    await page.getByRole('heading', { name: 'Morning Run wants to read your health data' }).waitFor();
    const url = `${app.gateway}/partner/consent/pending/${body.pending_id}`;
    const reads: string[] = [];
    page.on('request', (request) => {
      if (request.url() === url) reads.push(request.method());
    });
    const switchAccount = page.getByRole('button', { name: 'Switch account' });
    await page.route('**/sign-in?*', (route) => route.fulfill({ status: 204 }));
    return {
      page,
      url,
      reads,
      switchAccount,
      /** Switches, and returns the sign-in page that the page goes to. */
      leave: async () => {
        const left = page.waitForRequest((request) => request.url().includes('/sign-in?'));
        await switchAccount.click();
        return new URL((await left).url());
      },
      // As if returning from another window.
      focus: () => page.evaluate("window.dispatchEvent(new Event('visibilitychange'))"),
      /** Afterwards every request that the page has begun before is known. */
      settle: () => page.evaluate("fetch('/partner/consent/pending').then(({ status }) => status)"),
    };
  };

  test('the page that gave the request back does not claim it again before it is left', async () => {
    const { page, url, reads, leave, focus, settle } = await open('switch-leaver');
    await leave();
    reads.length = 0;
    await focus();
    await page.clock.fastForward(10.5 * MINUTE_MS);
    await page.getByText('The time for this request is over.').waitFor();
    await page.clock.runFor(7_000);
    expect(await settle()).toBe(200);
    expect(reads).toEqual([]);
    const other = await send(url, { bearer: await signIn(visits.stack, 'switch-next') });
    expect(expectStatus(200, other).body.data.status).toBe('pending');
  });

  test.each([
    [401, 'UNAUTHENTICATED'],
    [429, 'RATE_LIMITED'],
    [409, 'CONFLICT'],
  ])(
    'a release refused with %i %s leaves the person on the page, says so, and the page reads again',
    async (status, code) => {
      const { page, reads, switchAccount, focus } = await open(`switch-refused-${status}`);
      await page.route('**/release', (route) => route.fulfill({ status, json: { code, detail: 'No.' } }));
      await switchAccount.click();
      await page.getByRole('alert').getByText('The account was not switched.').waitFor();
      const read = page.waitForResponse((response) => /pending\/[^/]+$/.test(response.url()));
      await focus();
      await read;
      expect(reads).not.toEqual([]);
      expect(new URL(page.url()).pathname).toMatch(/^\/approve\//);
    },
  );

  test.each([
    [404, 'NOT_FOUND'],
    [409, 'ALREADY_DECIDED'],
    [409, 'PENDING_EXPIRED'],
  ])(
    'a release answered with %i %s leads to the sign-in, because there is nothing to give back',
    async (status, code) => {
      const { page, leave } = await open(`switch-${code.toLowerCase().replaceAll('_', '-')}`);
      await page.route('**/release', (route) => route.fulfill({ status, json: { code, detail: 'No.' } }));
      expect((await leave()).searchParams.get('switch')).toBe('1');
    },
  );
}
