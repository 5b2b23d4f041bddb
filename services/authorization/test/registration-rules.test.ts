import { describe, expect, test } from '@jest/globals';
import { AppLockKind, AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { eventually } from '@phds/test-kit/conditions';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { createDevelopers } from '../src/developers.ts';
import { REDIRECT_URI, reasonOf, refusalOf, shareHarness } from './harness.ts';

const harness = await shareHarness({ DEVELOPERS: '', APP_APPROVAL: '' });

const settings = { name: 'Ministry of Health', redirectUris: [REDIRECT_URI] };
const see = async (clientId: string) =>
  (await harness.operatedApps.listAllApps({ clientId })).apps[0]?.fingerprint ?? '';
const approve = (clientId: string, seenFingerprint: string, kind = AppLockKind.APPROVAL) =>
  harness.operatedApps.liftAppLock({ clientId, kind, seenFingerprint });
const register = async (userId: string) => harness.apps.registerApp({ settings }, await harness.as(userId));

test('without settings only people on the list register apps, until they leave it or are erased', async () => {
  const userId = 'maker';
  const isRefused = async () =>
    (await harness.apps.listApps({}, await harness.as(userId))).registrationRefused;
  expect(await reasonOf(register(userId))).toBe('not_a_developer');
  expect(await isRefused()).toBe(true);
  await harness.operatedApps.addDeveloper({ userId });
  await harness.operatedApps.addDeveloper({ userId });
  expect(await harness.operatedApps.listDevelopers({})).toMatchObject({ total: 1, developers: [{ userId }] });
  expect(await isRefused()).toBe(false);
  expect((await register(userId)).app?.clientId).toMatch(/^app_[0-9A-Za-z]{22}$/);
  await harness.operatedApps.removeDeveloper({ userId });
  expect(await reasonOf(register(userId))).toBe('not_a_developer');
  await harness.operatedApps.addDeveloper({ userId });
  await harness.operated.eraseUser({ userId, revokeApps: true });
  expect((await harness.operatedApps.listDevelopers({})).total).toBe(0);
});

test('a claim admits sessions that have it, as a text or in a list', async () => {
  const { mayRegister } = createDevelopers({} as never, 'roles=app=developer');
  const admits = (claims: Record<string, unknown>) => mayRegister({ userId: 'ada', claims });
  expect(await admits({ roles: ['staff', 'app=developer'] })).toBe(true);
  expect(await admits({ roles: 'app=developer' })).toBe(true);
  expect(await admits({ roles: 'app=developers' })).toBe(false);
  expect(await admits({})).toBe(false);
});

test('an app works from its approval on, and a change of what was approved waits for another one', async () => {
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
  expect(await reasonOf(approve(clientId, ''))).toBe('invalid_request');
  await approve(clientId, await see(clientId));
  await authenticate();

  const rename = (name: string) => harness.updateApp(clientId, { name });
  await rename(settings.name);
  const { publicJwk } = await createProofKey();
  const security = {
    jwks: JSON.stringify({ keys: [publicJwk] }),
    tokenEndpointAuthMethod: 'private_key_jwt',
  };
  await harness.updateApp(clientId, security);
  const refusal = await refusalOf(rename('Another ministry'));
  expect(refusal).toMatchObject({ reason: 'invalid_request', violations: [{ parameter: 'name' }] });
  await setStatus(AppStatus.SUSPENDED);
  const renamed = await rename('Another ministry');
  expect(renamed).toMatchObject({ name: 'Another ministry', lock });
  expect(await reasonOf(setStatus(AppStatus.ACTIVE))).toBe('conflict');
  const seen = await see(clientId);
  await rename('A third ministry');
  expect(await reasonOf(approve(clientId, seen))).toBe('conflict');
  expect((await approve(clientId, await see(clientId))).app?.app?.lock).toBeUndefined();
});

describe('settings that no operator has seen', () => {
  const UNSEEN = { name: 'Ministry of Health', redirectUris: ['https://evil.example/cb'] };

  const wait = async () => {
    await harness.operatedApps.addDeveloper({ userId: 'dev' });
    return (await register('dev')).app?.clientId ?? '';
  };

  test('do not become active when they are set while an operator approves others', async () => {
    const clientId = await wait();
    const watcher = await harness.connect();
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    harness.consent.onSetAppLock = () => {
      asked.resolve();
      return answered.promise;
    };
    const approval = approve(clientId, await see(clientId));
    await asked.promise;
    const update = reasonOf(harness.updateApp(clientId, UNSEEN));
    const isWaiting = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await eventually(async () => (await watcher.query(isWaiting)).rowCount === 1);
    answered.resolve();
    await approval;
    expect(await update).toBe('invalid_request');
    expect(await harness.readApp(clientId)).toMatchObject({ name: settings.name, status: AppStatus.ACTIVE });
  });

  test('wait even when the answer about a lifted lock was lost, and when a suspension is lifted', async () => {
    const clientId = await wait();
    harness.consent.lost.add('setAppLock');
    expect(await reasonOf(approve(clientId, await see(clientId)))).toBe('unavailable');
    harness.consent.lost.clear();
    await harness.updateApp(clientId, UNSEEN);
    await harness.setStatus({ clientId }, AppStatus.SUSPENDED);
    expect(await reasonOf(harness.setStatus({ clientId }, AppStatus.ACTIVE))).toBe('conflict');

    const seen = await see(clientId);
    await harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' });
    await harness.updateApp(clientId, { name: 'Another ministry' });
    expect(await reasonOf(approve(clientId, seen, AppLockKind.SUSPENSION))).toBe('conflict');
  });
});
