import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { toDate } from './fake-consent.ts';
import type { Harness, TestApp } from './harness.ts';
import { reasonOf, refusalOf, startHarness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => {
  await harness[Symbol.asyncDispose]();
});

const authenticates = async (client: TestApp) =>
  harness.tokens.issueToken({ client, grantType: 'client_credentials' }).then(
    () => true,
    () => false,
  );

describe('the status of an app', () => {
  const setStatus = async ({ clientId }: TestApp, status: AppStatus) =>
    harness.apps.setAppStatus({ clientId, status }, await harness.as('dev'));
  const start = async (app: TestApp) => harness.exchange(app, await harness.obtainCode(app));
  const statusOf = async (token: string) => (await harness.introspect(token)).status;

  test('suspended refuses secret and tokens; once active again, unexpired tokens work', async () => {
    const app = await harness.registerApp();
    const issued = await start(app);
    await setStatus(app, AppStatus.SUSPENDED);
    expect(await authenticates(app)).toBe(false);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.DEAD);
    await setStatus(app, AppStatus.ACTIVE);
    expect(await authenticates(app)).toBe(true);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.LIVE);
    expect((await harness.refresh(app, issued.refreshToken)).accessToken).toMatch(/^phds_at_/);
  });

  test('revoked ends tokens, codes and secret permanently; setting it active again restores none of them', async () => {
    const app = await harness.registerApp();
    const issued = await start(app);
    const code = await harness.obtainCode(app);
    await setStatus(app, AppStatus.REVOKED);
    const { clientId } = app;
    const session = await harness.as('dev');
    expect(await reasonOf(harness.apps.rotateSecret({ clientId }, session))).toBe('app_not_active');
    await setStatus(app, AppStatus.ACTIVE);
    expect(await authenticates(app)).toBe(false);
    const { clientSecret } = await harness.apps.rotateSecret({ clientId }, session);
    const renewed = { clientId, clientSecret };
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.DEAD);
    expect(await refusalOf(harness.refresh(renewed, issued.refreshToken))).toMatchObject({
      reason: 'invalid_grant',
      message: 'The app was revoked after the token was issued.',
    });
    expect(await refusalOf(harness.exchange(renewed, code))).toMatchObject({
      reason: 'invalid_grant',
      message: 'The app was revoked after the code was issued.',
    });
    expect(await statusOf((await start(renewed)).accessToken)).toBe(TokenStatus.LIVE);
  });

  test('set again changes nothing and keeps the time of the change', async () => {
    const app = await harness.registerApp();
    const first = await setStatus(app, AppStatus.SUSPENDED);
    harness.clock.advance(60_000);
    const second = await setStatus(app, AppStatus.SUSPENDED);
    expect(toDate(second.statusChangedAt)).toEqual(toDate(first.statusChangedAt));
  });

  test('that only reached the ledger is completed by a retry', async () => {
    const app = await harness.registerApp();
    harness.consent.lost.add('setAppStatus');
    expect(await reasonOf(setStatus(app, AppStatus.REVOKED))).toBe('unavailable');
    harness.consent.lost.clear();
    await setStatus(app, AppStatus.REVOKED);
    const { app: read } = await harness.apps.getApp({ clientId: app.clientId }, await harness.as('dev'));
    expect(read).toMatchObject({ status: AppStatus.REVOKED, secretLast4: '' });
    expect(await authenticates(app)).toBe(false);
  });

  test('is set even when the ledger has changed in the meantime', async () => {
    const app = await harness.registerApp();
    await setStatus(app, AppStatus.SUSPENDED);
    const inLedger = harness.consent.apps.get(app.clientId!)!;
    inLedger.status = AppStatus.ACTIVE;
    inLedger.revision += 1;
    expect((await setStatus(app, AppStatus.REVOKED)).status).toBe(AppStatus.REVOKED);
    expect(inLedger.status).toBe(AppStatus.REVOKED);
    expect(await authenticates(app)).toBe(false);
  });

  test('does not change while the ledger is unavailable, and accepts one of three values', async () => {
    const app = await harness.registerApp();
    harness.consent.away.add('setAppStatus');
    expect(await reasonOf(setStatus(app, AppStatus.REVOKED))).toBe('unavailable');
    harness.consent.away.clear();
    expect(await authenticates(app)).toBe(true);
    expect(await reasonOf(setStatus(app, AppStatus.UNSPECIFIED))).toBe('invalid_request');
  });
});
