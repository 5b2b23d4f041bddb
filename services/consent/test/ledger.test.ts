import { randomBytes } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { AppLockKind, AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { approve, GLUCOSE, HEART, registerApp, shareConsent } from './running-service.ts';

const consent = await shareConsent();

const NOTHING = { grantId: '', familyId: '', tokenHash: new Uint8Array() };

describe('an app', () => {
  test('is active in its first epoch; putting it again changes only its profile', async () => {
    const app = await registerApp(consent);
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.SUSPENDED });
    const again = await consent.ledger.putApp({
      app: { ...app, name: 'New Name', ownerId: 'somebody-else' },
    });
    expect(again).toMatchObject({ status: AppStatus.SUSPENDED, epoch: 1, revision: 2 });
    const rows = await consent.rows(
      "SELECT profile->>'name' AS name, owner_id FROM app WHERE client_id = $1",
      app.clientId,
    );
    expect(rows).toEqual([{ name: 'New Name', owner_id: app.ownerId }]);
  });

  test('starts a new epoch once when it is revoked, however often and concurrently that is requested', async () => {
    const { clientId } = await registerApp(consent);
    const revoke = () => consent.ledger.setAppStatus({ clientId, status: AppStatus.REVOKED });
    const answers = await Promise.all(Array.from({ length: 10 }, revoke));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: AppStatus.REVOKED, epoch: 2, revision: 2 });
    expect(await consent.ledger.setAppStatus({ clientId, status: AppStatus.ACTIVE })).toMatchObject({
      status: AppStatus.ACTIVE,
      epoch: 2,
      revision: 3,
    });
  });

  test('ignores a delayed change that was meant for an earlier revision', async () => {
    const { clientId } = await registerApp(consent);
    const set = (status: AppStatus, expectedRevision: number) =>
      consent.ledger.setAppStatus({ clientId, status, expectedRevision });
    expect(await set(AppStatus.SUSPENDED, 1)).toMatchObject({ status: AppStatus.SUSPENDED, revision: 2 });
    expect(await set(AppStatus.REVOKED, 2)).toMatchObject({ status: AppStatus.REVOKED, revision: 3 });
    expect(await set(AppStatus.ACTIVE, 2)).toMatchObject({ status: AppStatus.REVOKED, revision: 3 });
  });

  test('cannot become active while an operator has locked it, and returns to the status that its developer set last', async () => {
    const { clientId } = await registerApp(consent);
    const set = (status: AppStatus) => consent.ledger.setAppStatus({ clientId, status });
    const lock = { kind: AppLockKind.SUSPENSION, reason: 'It imitates a ministry.' };
    const { revision } = await consent.ledger.setAppLock({ clientId, lock });
    expect(await set(AppStatus.ACTIVE)).toMatchObject({ status: AppStatus.SUSPENDED, revision, lock });
    expect(await consent.ledger.setAppLock({ clientId, lock })).toMatchObject({ revision });
    const asEarlierRelease = consent.owner.query(
      `UPDATE app SET status = 'active' WHERE client_id = '${clientId}'`,
    );
    await expect(asEarlierRelease).rejects.toThrow('app_lock_check');
    const lifted = await consent.ledger.setAppLock({ clientId, expectedRevision: revision });
    expect(lifted).toMatchObject({ status: AppStatus.ACTIVE, epoch: 1 });
    expect(lifted.lock).toBeUndefined();

    await consent.ledger.setAppLock({ clientId, lock });
    await set(AppStatus.SUSPENDED);
    const late = await consent.ledger.setAppLock({ clientId, expectedRevision: revision });
    expect(late).toMatchObject({ lock });
    expect(await consent.ledger.setAppLock({ clientId })).toMatchObject({ status: AppStatus.SUSPENDED });
    await consent.ledger.setAppLock({ clientId, lock });
    expect(await set(AppStatus.REVOKED)).toMatchObject({ epoch: 2, lock });
    expect(await consent.ledger.setAppLock({ clientId })).toMatchObject({ status: AppStatus.REVOKED });
  });

  test('continues above the known revision and epoch when the ledger was restored, and ends what those ended', async () => {
    const app = await registerApp(consent);
    const { clientId } = app;
    const { grantId } = await approve(consent, app, 'restored');
    // Suspended, revoked and reactivated after the backup.
    const known = { knownRevision: 4, knownEpoch: 2 };
    const set = (status: AppStatus, expectedRevision: number) =>
      consent.ledger.setAppStatus({ clientId, status, expectedRevision, ...known });
    const before = await set(AppStatus.ACTIVE, 4);
    expect(before).toMatchObject({ status: AppStatus.ACTIVE, epoch: 1, revision: 1 });
    const raised = await set(AppStatus.ACTIVE, 1);
    expect(raised).toMatchObject({ status: AppStatus.ACTIVE, epoch: 2, revision: 5 });
    expect(raised.statusChangedAt).toEqual(before.statusChangedAt);
    expect(await set(AppStatus.ACTIVE, 5)).toEqual(raised);
    const alive = await consent.checkLiveness({ ...NOTHING, clientId, appEpoch: 1, grantId });
    expect(alive).toMatchObject({ appAlive: false, grant: { status: GrantStatus.REVOKED } });
    const { grants } = await consent.as('restored').listGrants({ grantId });
    expect(grants[0]?.revokedAt).toBeDefined();
  });

  test('is revoked with everything issued in an epoch that a restored ledger does not know', async () => {
    const { clientId } = await registerApp(consent);
    const revoked = { clientId, status: AppStatus.REVOKED };
    expect(await consent.ledger.setAppStatus({ ...revoked, knownRevision: 3, knownEpoch: 3 })).toMatchObject({
      epoch: 4,
      revision: 4,
    });
    // Revoked in the backup, reactivated since: what was issued then ends too.
    expect(await consent.ledger.setAppStatus({ ...revoked, knownRevision: 5, knownEpoch: 4 })).toMatchObject({
      epoch: 5,
      revision: 6,
    });
    const rows = await consent.rows(
      'SELECT epoch FROM app_epoch WHERE client_id = $1 ORDER BY epoch',
      clientId,
    );
    expect(rows.map(({ epoch }) => epoch)).toEqual([2, 3, 4, 5]);
    const beyond = { ...revoked, knownRevision: 2 ** 31, knownEpoch: 1 };
    await expect(consent.ledger.setAppStatus(beyond)).rejects.toMatchObject({ reason: 'invalid_request' });
  });

  test('is revoked without updating its grants, however many there are', async () => {
    const app = await registerApp(consent);
    await approve(consent, app, 'untouched');
    const versions = () =>
      consent.owner.query('SELECT xmin FROM consent_grant WHERE client_id = $1', [app.clientId]);
    const before = await versions();
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.REVOKED });
    expect((await versions()).rows).toEqual(before.rows);
  });

  test('that is unknown has no status to set', async () => {
    await expect(
      consent.ledger.setAppStatus({ clientId: newId('app'), status: AppStatus.ACTIVE }),
    ).rejects.toMatchObject({ reason: 'not_found' });
    const { clientId } = await registerApp(consent);
    await expect(consent.ledger.setAppStatus({ clientId })).rejects.toMatchObject({
      reason: 'invalid_request',
    });
  });
});

test('a revocation of neither a family nor a token is refused', async () => {
  const expiresAt = timestampFromDate(new Date());
  await expect(consent.ledger.revokeTokens({ expiresAt })).rejects.toMatchObject({
    reason: 'invalid_request',
    message: expect.stringContaining('revoked'),
  });
});

describe('liveness', () => {
  test('reports a live app, family, token and grant', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'alive', { dataFrom: '2026-01-01' });
    const answer = await consent.checkLiveness({
      clientId: app.clientId,
      appEpoch: 1,
      grantId: grant.grantId,
      familyId: newId('fam'),
      tokenHash: randomBytes(32),
    });
    expect(answer).toMatchObject({ appAlive: true, familyAlive: true, tokenAlive: true });
    expect(answer.grant).toMatchObject({
      status: GrantStatus.ACTIVE,
      scopes: [HEART, GLUCOSE],
      userId: 'alive',
      dataFrom: '2026-01-01',
      expiresAt: grant.grantExpiresAt,
    });
  });

  test('reports revocations immediately and permanently', async () => {
    const { clientId } = await registerApp(consent);
    const [familyId, tokenHash] = [newId('fam'), randomBytes(32)];
    for (let time = 0; time < 2; time += 1) {
      await consent.revokeFamily(familyId);
      await consent.revokeToken(tokenHash);
      const answer = await consent.checkLiveness({
        clientId,
        appEpoch: 1,
        grantId: '',
        familyId,
        tokenHash,
      });
      expect(answer).toMatchObject({ appAlive: true, familyAlive: false, tokenAlive: false });
    }
  });

  test.each([
    ['suspended', AppStatus.SUSPENDED, GrantStatus.ACTIVE],
    ['revoked', AppStatus.REVOKED, GrantStatus.REVOKED],
  ])('reports an app that is %s, and the effect on its grants', async (_name, status, grantStatus) => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'sleeper');
    await consent.ledger.setAppStatus({ clientId: app.clientId, status });
    const question = { ...NOTHING, clientId: app.clientId, appEpoch: 1, grantId };
    const answer = await consent.checkLiveness(question);
    expect(answer).toMatchObject({ appAlive: false, grant: { status: grantStatus } });
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.ACTIVE });
    const later = await consent.checkLiveness(question);
    expect(later.appAlive).toBe(status === AppStatus.SUSPENDED);
    expect(later.grant?.status).toBe(grantStatus);
  });

  test('returns no grant that was not requested, is unknown, or belongs to another app', async () => {
    const [one, other] = [await registerApp(consent), await registerApp(consent)];
    const { grantId } = await approve(consent, other, 'alive');
    for (const id of ['', newId('grt'), grantId]) {
      const answer = await consent.checkLiveness({
        ...NOTHING,
        clientId: one.clientId,
        appEpoch: 1,
        grantId: id,
      });
      expect(answer).toMatchObject({ appAlive: true, familyAlive: true, tokenAlive: true });
      expect(answer.grant).toBeUndefined();
    }
    const unknown = await consent.checkLiveness({ ...NOTHING, clientId: newId('app'), appEpoch: 1 });
    expect(unknown.appAlive).toBe(false);
  });
});

const CHECK = { ...NOTHING, appEpoch: 1 };

/** An app with a grant, and what it would ask. */
async function connect() {
  const app = await registerApp(consent);
  const grant = await approve(consent, app, 'ada', { requested: [HEART] });
  return { ...CHECK, clientId: app.clientId, grantId: grant.grantId };
}

describe('several liveness checks in one call', () => {
  test('several checks in one call are answered in their order, each as if it were alone', async () => {
    const [first, second, unknown] = [await connect(), await connect(), { ...CHECK, clientId: newId('app') }];
    await consent.ledger.setAppStatus({ clientId: second.clientId, status: AppStatus.SUSPENDED });
    const checks = [second, unknown, first, { ...first, grantId: second.grantId }, second];
    const { results } = await consent.ledger.checkLivenesses({ checks });
    expect(results).toEqual(await Promise.all(checks.map((check) => consent.checkLiveness(check))));
    expect(results.map(({ appAlive }) => appAlive)).toEqual([false, false, true, true, false]);
    expect(results.map(({ grant }) => grant?.status)).toEqual([
      GrantStatus.ACTIVE,
      undefined,
      GrantStatus.ACTIVE,
      undefined,
      GrantStatus.ACTIVE,
    ]);
  });

  test('one check that is not valid fails the call and names the field', async () => {
    const checks = [await connect(), { ...CHECK, clientId: '' }];
    await expect(consent.ledger.checkLivenesses({ checks })).rejects.toMatchObject({
      reason: 'invalid_request',
      message: expect.stringContaining('clientId'),
    });
  });

  test('more than 64 checks are refused', async () => {
    const checks = Array.from({ length: 65 }, () => ({ ...CHECK, clientId: newId('app') }));
    expect((await consent.ledger.checkLivenesses({ checks: checks.slice(1) })).results).toHaveLength(64);
    await expect(consent.ledger.checkLivenesses({ checks })).rejects.toMatchObject({
      reason: 'invalid_request',
      message: expect.stringContaining('at most 64'),
    });
  });
});
