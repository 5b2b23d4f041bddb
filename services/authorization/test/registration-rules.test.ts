import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { AppLockKind, AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { createDevelopers } from '../src/app/developers.ts';
import { REDIRECT_URI, reasonOf, refusalOf, shareHarness } from './harness.ts';

const harness = await shareHarness({ DEVELOPERS: '', APP_APPROVAL: '' });

const settings = { name: 'Ministry of Health', redirectUris: [REDIRECT_URI] };
const register = async (userId: string, sandbox = false) =>
  harness.apps.registerApp({ settings, sandbox }, await harness.as(userId));

test('without settings only people on the list register apps, live or sandbox, until they leave it or are erased', async () => {
  const userId = 'maker';
  const isRefused = async () =>
    (await harness.apps.listApps({}, await harness.as(userId))).registrationRefused;
  for (const sandbox of [true, false]) {
    expect(await reasonOf(register(userId, sandbox))).toBe('not_a_developer');
  }
  expect(await isRefused()).toBe(true);
  await harness.operatedApps.addDeveloper({ userId });
  await harness.operatedApps.addDeveloper({ userId });
  expect(await harness.operatedApps.listDevelopers({})).toMatchObject({ total: 1, developers: [{ userId }] });
  expect(await isRefused()).toBe(false);
  expect((await register(userId, true)).app?.status).toBe(AppStatus.ACTIVE);
  await harness.operatedApps.removeDeveloper({ userId });
  expect(await reasonOf(register(userId))).toBe('not_a_developer');
  await harness.operatedApps.addDeveloper({ userId });
  await harness.operated.eraseUser({ userId, revokeApps: true });
  expect((await harness.operatedApps.listDevelopers({})).total).toBe(0);
});

test('a claim admits sessions that have it, as a text or in a list', async () => {
  const { mayRegister } = createDevelopers({} as never, 'claim', 'roles=app=developer');
  const admits = (claims: Record<string, unknown>) => mayRegister({ userId: 'ada', claims });
  expect(await admits({ roles: ['staff', 'app=developer'] })).toBe(true);
  expect(await admits({ roles: 'app=developer' })).toBe(true);
  expect(await admits({ roles: 'app=developers' })).toBe(false);
  expect(await admits({})).toBe(false);
});

test('a live app works from its approval on, and a change of what was approved waits for another one', async () => {
  await harness.operatedApps.addDeveloper({ userId: 'dev' });
  const { app, clientSecret } = await register('dev');
  const { clientId = '' } = app ?? {};
  const lock = { kind: AppLockKind.APPROVAL };
  expect(app).toMatchObject({ status: AppStatus.SUSPENDED, lock });
  const authenticate = () =>
    harness.tokens.issueToken({ client: { clientId, clientSecret }, grantType: 'client_credentials' });
  expect(await reasonOf(authenticate())).toBe('unauthorized');
  const setStatus = (status: AppStatus) => harness.setStatus({ clientId }, status);
  expect(await reasonOf(setStatus(AppStatus.ACTIVE))).toBe('conflict');
  const approve = (seen?: Timestamp) =>
    harness.operatedApps.liftAppLock({ clientId, kind: lock.kind, ...(seen && { seenUpdatedAt: seen }) });
  expect(await reasonOf(approve())).toBe('invalid_request');
  await approve(app?.updatedAt);
  await authenticate();

  const rename = (name: string) => harness.updateApp(clientId, { name });
  await rename(settings.name);
  const { publicJwk } = await createProofKey();
  const security = { jwks: JSON.stringify({ keys: [publicJwk] }), securityProfile: 'fapi2' };
  await harness.updateApp(clientId, security);
  const refusal = await refusalOf(rename('Another ministry'));
  expect(refusal).toMatchObject({ reason: 'invalid_request', violations: [{ parameter: 'name' }] });
  await setStatus(AppStatus.SUSPENDED);
  const renamed = await rename('Another ministry');
  expect(renamed).toMatchObject({ name: 'Another ministry', lock });
  expect(await reasonOf(setStatus(AppStatus.ACTIVE))).toBe('conflict');
  const again = await rename('A third ministry');
  expect(await reasonOf(approve(renamed?.updatedAt))).toBe('conflict');
  expect((await approve(again?.updatedAt)).app?.app?.lock).toBeUndefined();
});
