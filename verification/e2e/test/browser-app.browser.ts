import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { ApprovalScreen } from '../src/approval-screen.ts';
import { type BrowserApp, startBrowserApp } from '../src/browser-app.ts';
import { describeWithChromium, prepareVisits } from '../src/visits.ts';

const USER = 'browser-app';

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: string;
}

describeWithChromium('a page with oidc-client-ts and no secret', () => {
  const visits = prepareVisits();
  let app: BrowserApp;

  beforeAll(async () => {
    const { stack } = visits;
    app = await startBrowserApp(stack.gateway);
    const bearer = await signIn(stack, 'developer');
    const body = { name: 'Page', applicationType: 'public', redirectUris: [`${app.origin}/`] };
    const { data } = expectStatus(
      201,
      await send(`${stack.gateway}/developer/apps`, { bearer, json: body }),
    ).body;
    expect(data).toMatchObject({ clientSecret: null, applicationType: 'public' });
    app.use(data.clientId);
    const start = new Date(Date.now() - 3_600_000).toISOString();
    await ingestReadings(stack, USER, [{ type: 'Heart Rate', start, value: 60 }]);
  });
  afterAll(async () => app?.[Symbol.asyncDispose]());

  async function connect() {
    const { page } = await visits.open('/signed-in', { session: await signIn(visits.stack, USER) });
    await page.goto(`${app.origin}/`);
    await page.getByRole('button', { name: 'Connect' }).click();
    await page.waitForURL('**/approve/*');
    await new ApprovalScreen(page).shareOnly('Heart');
    await page.locator('p', { hasText: 'status' }).waitFor();
    const step = <Result>(name: string) => page.evaluate(`steps.${name}()`) as Promise<Result>;
    return { page, step, shown: JSON.parse((await page.locator('p').textContent()) ?? '') };
  }

  test('connects, reads, refreshes and revokes, with a key that nobody can copy', async () => {
    const { step, shown } = await connect();
    expect(shown).toEqual({ status: 200, readings: 1, date: true });
    expect(await step('isKeyKept')).toBe(true);
    const first = await step<Tokens>('user');
    expect(first.token_type).toBe('DPoP');
    const second = await step<Tokens>('refresh');
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect(await step('read')).toMatchObject({ status: 200, readings: 1 });
    // What a script that steals it can do with it elsewhere.
    const stolen = await send(`${visits.stack.gateway}/api/v1/health-data/heart`, {
      bearer: second.access_token,
    });
    expect(stolen.status).toBe(401);
    await step('revoke');
    expect(await step('read')).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  });
});
