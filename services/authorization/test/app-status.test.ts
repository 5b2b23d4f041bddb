import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppLockKind, AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { toDate } from './fake-consent.ts';
import { reasonOf, refusalOf, shareHarness, type TestApp } from './harness.ts';

const harness = await shareHarness();

const authenticates = async (client: TestApp) =>
  harness.tokens.issueToken({ client, grantType: 'client_credentials' }).then(
    () => true,
    () => false,
  );

describe('the status of an app', () => {
  const start = async (app: TestApp) => harness.exchange(app, await harness.obtainCode(app));
  const statusOf = async (token: string) => (await harness.introspect(token)).status;

  test('suspended refuses secret and tokens; once active again, unexpired tokens work', async () => {
    const app = await harness.registerApp();
    const issued = await start(app);
    await harness.setStatus(app, AppStatus.SUSPENDED);
    expect(await authenticates(app)).toBe(false);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.DEAD);
    await harness.setStatus(app, AppStatus.ACTIVE);
    expect(await authenticates(app)).toBe(true);
    expect(await statusOf(issued.accessToken)).toBe(TokenStatus.LIVE);
    expect((await harness.refresh(app, issued.refreshToken)).accessToken).toMatch(/^phds_at_/);
  });

  test('revoked ends tokens, codes and secret permanently; setting it active again restores none of them', async () => {
    const app = await harness.registerApp();
    const issued = await start(app);
    const code = await harness.obtainCode(app);
    await harness.setStatus(app, AppStatus.REVOKED);
    const { clientId } = app;
    const session = await harness.as('dev');
    expect(await reasonOf(harness.apps.rotateSecret({ clientId }, session))).toBe('app_not_active');
    await harness.setStatus(app, AppStatus.ACTIVE);
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
    const first = await harness.setStatus(app, AppStatus.SUSPENDED);
    harness.clock.advance(60_000);
    const second = await harness.setStatus(app, AppStatus.SUSPENDED);
    expect(toDate(second.statusChangedAt)).toEqual(toDate(first.statusChangedAt));
  });

  test('that only reached the ledger is completed by a retry', async () => {
    const app = await harness.registerApp();
    harness.consent.lost.add('setAppStatus');
    expect(await reasonOf(harness.setStatus(app, AppStatus.REVOKED))).toBe('unavailable');
    harness.consent.lost.clear();
    await harness.setStatus(app, AppStatus.REVOKED);
    expect(await harness.readApp(app.clientId)).toMatchObject({ status: AppStatus.REVOKED, secretLast4: '' });
    expect(await authenticates(app)).toBe(false);
  });

  test('is set even when the ledger has changed in the meantime', async () => {
    const app = await harness.registerApp();
    await harness.setStatus(app, AppStatus.SUSPENDED);
    const inLedger = harness.consent.apps.get(app.clientId!)!;
    inLedger.status = AppStatus.ACTIVE;
    inLedger.revision += 1;
    expect((await harness.setStatus(app, AppStatus.REVOKED)).status).toBe(AppStatus.REVOKED);
    expect(inLedger.status).toBe(AppStatus.REVOKED);
    expect(await authenticates(app)).toBe(false);
  });

  test('does not change while the ledger is unavailable, and accepts one of three values', async () => {
    const app = await harness.registerApp();
    harness.consent.away.add('setAppStatus');
    expect(await reasonOf(harness.setStatus(app, AppStatus.REVOKED))).toBe('unavailable');
    harness.consent.away.clear();
    expect(await authenticates(app)).toBe(true);
    expect(await reasonOf(harness.setStatus(app, AppStatus.UNSPECIFIED))).toBe('invalid_request');
  });
});

describe('the lock of an operator', () => {
  test('that only reached the ledger holds, and a repeat completes it', async () => {
    const { clientId } = await harness.registerApp();
    const suspend = () => harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' });
    harness.consent.lost.add('setAppLock');
    expect(await reasonOf(suspend())).toBe('unavailable');
    harness.consent.lost.clear();
    expect(await reasonOf(harness.setStatus({ clientId }, AppStatus.ACTIVE))).toBe('conflict');
    await suspend();
    expect((await harness.readApp(clientId))?.lock?.reason).toBe('No answer.');
  });

  test('holds when the ledger was restored to a state without it', async () => {
    const { clientId } = await harness.registerApp();
    const before = { ...harness.consent.app(clientId) };
    await harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' });
    harness.consent.apps.set(clientId, before);
    expect(await reasonOf(harness.setStatus({ clientId }, AppStatus.ACTIVE))).toBe('conflict');
  });

  test('is lifted only as what it is, and needs a reason that can be shown', async () => {
    const { clientId } = await harness.registerApp();
    await harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' });
    const [shown] = (await harness.operatedApps.listAllApps({ clientId })).apps;
    const seenFingerprint = shown?.fingerprint ?? '';
    const approval = { clientId, kind: AppLockKind.APPROVAL, seenFingerprint };
    expect(await reasonOf(harness.operatedApps.liftAppLock(approval))).toBe('conflict');
    for (const reason of ['', ' ', 'x'.repeat(501), 'two\nlines']) {
      expect(await reasonOf(harness.operatedApps.suspendApp({ clientId, reason }))).toBe('invalid_request');
    }
    const unknown = { clientId: 'app_0000000000000000000000', reason: 'x' };
    expect(await reasonOf(harness.operatedApps.suspendApp(unknown))).toBe('not_found');
  });
});

test.each([
  ['an unknown status', 9, AppLockKind.SUSPENSION],
  ['an unknown kind of lock', AppStatus.SUSPENDED, 9],
  ['no kind of lock', AppStatus.SUSPENDED, AppLockKind.UNSPECIFIED],
])('an answer of the ledger with %s is logged as a fault and not stored', async (_name, status, kind) => {
  const { clientId } = await harness.registerApp();
  const lock = { kind, reason: 'No answer.', since: timestampFromDate(harness.clock.now()) };
  jest
    .spyOn(harness.consent, 'leave')
    .mockImplementationOnce((_rpc, answer) => ({ ...(answer as object), status, lock }));
  const before = harness.logged().length;
  expect(await reasonOf(harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' }))).toBe(
    'internal',
  );
  expect(harness.logged().slice(before)).toMatch(/"level":"error".*consent sent/);
  const app = await harness.readApp(clientId);
  expect(app?.status).toBe(AppStatus.ACTIVE);
  expect(app?.lock).toBeUndefined();
});

describe('an operator who transfers an app', () => {
  const transfer = (clientId: string, userId: string, fromUserId: string) =>
    harness.operatedApps.transferApp({ clientId, userId, fromUserId });
  const find = async (clientId: string, userId: string) =>
    harness.apps.listApps({ clientId }, await harness.as(userId));

  test('takes it from the former developer and gives it to the next, and both have the act in the record', async () => {
    const { clientId } = await harness.registerApp();
    harness.consent.acts.length = 0;
    const { app } = await transfer(clientId, 'next-dev', 'dev');
    expect(app?.ownerId).toBe('next-dev');
    expect(await reasonOf(find(clientId, 'dev'))).toBe('not_found');
    expect((await find(clientId, 'next-dev')).apps[0]?.clientId).toBe(clientId);
    const rotation = harness.apps.rotateSecret({ clientId }, await harness.as('dev'));
    expect(await reasonOf(rotation)).toBe('not_found');
    const TRANSFER = 'phds.authorization.v1.AppOperatorService/TransferApp';
    const [former, next, ...ends] = harness.consent.acts;
    expect([former, next]).toEqual([
      expect.stringMatching(`^on-call ${TRANSFER} dev ${clientId}`),
      expect.stringMatching(`^on-call ${TRANSFER} next-dev ${clientId}`),
    ]);
    expect(ends).toEqual(['1 OK', '2 OK']);
    expect(await reasonOf(transfer(clientId, 'third', 'dev'))).toBe('conflict');
  });

  test('that only reached the ledger is completed by a repeat', async () => {
    const { clientId } = await harness.registerApp();
    harness.consent.lost.add('setAppOwner');
    expect(await reasonOf(transfer(clientId, 'next-dev', 'dev'))).toBe('unavailable');
    harness.consent.lost.clear();
    await transfer(clientId, 'next-dev', 'dev');
    expect(harness.consent.owners.get(clientId)).toBe('next-dev');
    expect((await find(clientId, 'next-dev')).apps[0]?.clientId).toBe(clientId);
  });
});

describe('a restored ledger', () => {
  const { ACTIVE, REVOKED, SUSPENDED } = AppStatus;

  let app: TestApp;

  beforeEach(async () => {
    app = await harness.registerApp();
  });

  const inLedger = () => harness.consent.apps.get(app.clientId)!;

  /** Restores the ledger from a backup made right after the registration. */
  function restoreLedger(): void {
    Object.assign(inLedger(), { status: ACTIVE, epoch: 1, revision: 1 });
  }

  test.each([
    ['suspended', [SUSPENDED, ACTIVE], SUSPENDED],
    ['revoked', [SUSPENDED, ACTIVE], REVOKED],
    ['active, which the restored ledger says already', [SUSPENDED], ACTIVE],
    ['active after it was revoked', [REVOKED], ACTIVE],
  ])(
    'an app is set %s here too when the ledger was restored to a state before its changes',
    async (_name, changes, status) => {
      for (const change of changes) await harness.setStatus(app, change);
      restoreLedger();
      expect((await harness.setStatus(app, status)).status).toBe(status);
      expect((await harness.readApp(app.clientId))?.status).toBe(status);
      expect(inLedger().status).toBe(status);
    },
  );

  test('a revoked app regains nothing through changes of status on a restored ledger', async () => {
    const issued = await harness.exchange(app, await harness.obtainCode(app));
    await harness.setStatus(app, REVOKED);
    restoreLedger();
    await harness.setStatus(app, SUSPENDED);
    await harness.setStatus(app, ACTIVE);
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
    expect(inLedger().epoch).toBe(2);
  });

  test('an epoch never decreases here, even when the ledger fails during a change', async () => {
    const issued = await harness.exchange(app, await harness.obtainCode(app));
    await harness.setStatus(app, REVOKED);
    Object.assign(inLedger(), { status: ACTIVE, epoch: 1, revision: 7 });
    // Its first response is adopted here; a second one does not arrive.
    jest.spyOn(harness.consent, 'leave').mockImplementationOnce((rpc, answer) => {
      harness.consent.away.add(rpc);
      return answer;
    });
    expect(await reasonOf(harness.setStatus(app, ACTIVE))).toBe('unavailable');
    harness.consent.away.clear();
    expect((await harness.readApp(app.clientId))?.status).toBe(ACTIVE);
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
  });
});

describe('an operator who suspends an app', () => {
  const suspend = async () => {
    const { clientId } = await harness.registerApp();
    return { clientId, call: () => harness.operatedApps.suspendApp({ clientId, reason: 'No answer.' }) };
  };
  const SUSPEND = 'phds.authorization.v1.AppOperatorService/SuspendApp';

  test('has the act recorded by consent before it is made, and its outcome after it', async () => {
    const { clientId, call } = await suspend();
    harness.consent.acts.length = 0;
    harness.consent.calls.length = 0;
    await call();
    expect(harness.consent.acts).toEqual([`on-call ${SUSPEND}  ${clientId} a test`, '1 OK']);
    expect(harness.consent.calls).toEqual(['beginAct', 'setAppLock', 'endAct']);
  });

  test('changes nothing while consent cannot record it', async () => {
    const { clientId, call } = await suspend();
    harness.consent.away.add('beginAct');
    try {
      expect(await reasonOf(call())).toBe('unavailable');
    } finally {
      harness.consent.away.delete('beginAct');
    }
    const { apps } = await harness.operatedApps.listAllApps({ clientId });
    expect(apps.map(({ app }) => app?.lock)).toEqual([undefined]);
  });

  test('has the outcome of a refusal recorded', async () => {
    harness.consent.acts.length = 0;
    const unknown = { clientId: 'app_0000000000000000000000', reason: 'No answer.' };
    expect(await reasonOf(harness.operatedApps.suspendApp(unknown))).toBe('not_found');
    expect(harness.consent.acts.at(-1)).toBe('1 NOT_FOUND');
  });
});
