import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { eventually } from '@phds/test-kit/conditions';
import { startTcpProxy, type TcpProxy } from '@phds/test-kit/tcp-proxy';
import { openTestPool } from '@phds/test-kit/test-pool';
import type pg from 'pg';
import { countLockWaits } from './database-clients.ts';
import {
  accessOf,
  approve,
  HEART,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

describe('without its database', () => {
  let consent: RunningService;
  let proxy: TcpProxy;

  beforeAll(async () => {
    consent = await startConsent({
      settings: { DEADLINE_FACTOR: '1', DATABASE_STATEMENT_TIMEOUT_MS: '2000' },
      databaseUrl: async (url) => {
        proxy = await startTcpProxy(url);
        return proxy.url;
      },
    });
  });
  afterAll(async () => {
    await consent[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
  });

  const readiness = async () => (await fetch(`http://127.0.0.1:${consent.service.probePort}/readyz`)).status;

  test('nothing is released, every call answers unavailable, and the service recovers by itself', async () => {
    const grant = await approve(consent, await registerApp(consent), 'patient');
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    await proxy.cut();
    await expect(record(consent, accessOf(grant))).rejects.toMatchObject({
      reason: 'access_not_recorded',
      retryAfterSeconds: 1,
    });
    const session = await consent.session('patient');
    await expect(consent.asGateway.revokeGrant({ id: grant.grantId }, session)).rejects.toMatchObject({
      reason: 'unavailable',
    });
    await expect(registerApp(consent)).rejects.toMatchObject({ reason: 'unavailable' });
    expect(await readiness()).toBe(503);
    await proxy.restore();
    await eventually(async () => expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED));
    expect(await readiness()).toBe(200);
    await consent.asGateway.revokeGrant({ id: grant.grantId }, session);
    expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
  });

  test('no session is ended or called alive, and an end that was acknowledged before is still known afterwards', async () => {
    const at = timestampFromMs(Date.now());
    const session = { tokenHash: new Uint8Array(32), sid: 'sid-outage', subject: 'away', issuedAt: at };
    const end = () => consent.sessions.endSessions({ sid: session.sid, endedAt: at });
    const check = () => consent.sessions.checkSession(session);
    await end();
    await proxy.cut();
    await expect(end()).rejects.toMatchObject({ reason: 'unavailable' });
    await expect(check()).rejects.toMatchObject({ reason: 'unavailable' });
    await proxy.restore();
    await eventually(async () => expect((await check()).ended).toBe(true));
  });

  test('nothing is released when it accepts connections but never answers', async () => {
    const grant = await approve(consent, await registerApp(consent), 'frozen');
    proxy.set({ kind: 'hold' });
    await expect(record(consent, accessOf(grant))).rejects.toMatchObject({ reason: 'access_not_recorded' });
    proxy.set({ kind: 'pass' });
    await eventually(async () => expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED));
  });
});

describe('with every connection of a pool in use', () => {
  const POOL_SIZE = 3;

  /** Of which four are for recording. */
  const ACCESS_POOL_SIZE = POOL_SIZE + 4;

  let consent: RunningService;
  let admin: pg.Pool;

  beforeAll(async () => {
    consent = await startConsent({
      settings: {
        DATABASE_POOL_SIZE: `${POOL_SIZE}`,
        REVOCATION_POOL_SIZE: `${POOL_SIZE}`,
        ACCESS_POOL_SIZE: `${ACCESS_POOL_SIZE}`,
      },
    });
    admin = openTestPool(consent.database.adminUrl, { max: 2 });
  });
  afterAll(async () => {
    await admin.end();
    await consent[Symbol.asyncDispose]();
  });

  /** Holds a lock until disposed, while calls that wait for it occupy every connection of a pool. */
  async function holdPool(lock: string, call: () => Promise<unknown>, calls = POOL_SIZE) {
    await using held = new AsyncDisposableStack();
    const holder = await consent.owner.connect();
    held.defer(() => holder.release());
    await holder.query(`BEGIN; ${lock}`);
    const settled = Promise.allSettled(Array.from({ length: calls }, call));
    held.defer(async () => {
      await holder.query('ROLLBACK');
      await settled;
    });
    await eventually(async () => {
      expect(await countLockWaits(admin)).toBeGreaterThanOrEqual(POOL_SIZE);
    });
    return held.move();
  }

  /** Locks no table that recording or revocation needs. */
  async function holdOrdinaryPool() {
    const session = await consent.session('waiting');
    return holdPool('LOCK TABLE pending_approval IN ACCESS EXCLUSIVE MODE', () =>
      consent.asGateway.listPendingApprovals({}, session),
    );
  }

  test('the service is ready, and a first read of a grant is recorded and judged, while every ordinary connection is in use', async () => {
    const grant = await approve(consent, await registerApp(consent), 'reader');
    await using _held = await holdOrdinaryPool();
    expect((await fetch(`http://127.0.0.1:${consent.service.probePort}/readyz`)).status).toBe(200);
    const access = accessOf(grant);
    expect(await record(consent, access)).toBe(Verdict.RELEASED);
    expect(await record(consent, { ...accessOf(grant), scope: 'read:mood' })).toBe(Verdict.SCOPE_WITHDRAWN);
    const rows = await consent.rows('SELECT 1 FROM access_record WHERE request_id = $1', access.requestId);
    expect(rows).toHaveLength(1);
  });

  test('grants can be narrowed and revoked, one or all, while every ordinary connection is in use', async () => {
    const apps = await Promise.all(Array.from({ length: 4 }, () => registerApp(consent)));
    const [narrowed, one, other, another] = await Promise.all(
      apps.map((app) => approve(consent, app, 'withdrawing')),
    );
    const session = await consent.session('withdrawing');
    await using _held = await holdOrdinaryPool();
    const change = { id: narrowed!.grantId, setScopes: true, scopes: [HEART] };
    expect((await consent.asGateway.narrowGrant(change, session)).grant).toMatchObject({
      scopes: [HEART],
      status: GrantStatus.ACTIVE,
    });
    for (let time = 0; time < 2; time += 1) {
      await consent.asGateway.revokeGrant({ id: one!.grantId }, session);
    }
    expect(await record(consent, accessOf(one!))).toBe(Verdict.GRANT_REVOKED);
    expect((await consent.asGateway.revokeAllGrants({}, session)).revoked).toBe(3);
    for (const grant of [narrowed, other, another]) {
      expect(await record(consent, accessOf(grant!))).toBe(Verdict.GRANT_REVOKED);
    }
  });

  test('tokens, families and apps can be revoked, and sessions ended and checked, while every ordinary connection is in use', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'holder');
    const at = timestampFromMs(Date.now());
    const [ofToken, ofFamily, ofApp] = [accessOf(grant), accessOf(grant), accessOf(grant)];
    await using _held = await holdOrdinaryPool();
    await consent.revokeToken(ofToken.tokenHash);
    await consent.revokeFamily(ofFamily.familyId);
    expect(await record(consent, ofToken)).toBe(Verdict.TOKEN_REVOKED);
    expect(await record(consent, ofFamily)).toBe(Verdict.FAMILY_REVOKED);
    expect(await record(consent, ofApp)).toBe(Verdict.RELEASED);
    const status = { clientId: app.clientId, status: AppStatus.REVOKED };
    expect(await consent.ledger.setAppStatus(status)).toMatchObject({ status: AppStatus.REVOKED });
    expect(await record(consent, ofApp)).toBe(Verdict.APP_NOT_ALIVE);
    await consent.sessions.endSessions({ subject: 'leaver', endedAt: at });
    const session = { tokenHash: new Uint8Array(32), subject: 'leaver', issuedAt: at };
    expect((await consent.sessions.checkSession(session)).ended).toBe(true);
  });

  test('reads are recorded, changes proved and readiness answered while more checks of sessions are blocked than there are connections', async () => {
    const [grant, other] = [
      await approve(consent, await registerApp(consent), 'reader'),
      await approve(consent, await registerApp(consent), 'reader'),
    ];
    const session = await consent.session('reader');
    const asked = { tokenHash: new Uint8Array(32), subject: 'asked', issuedAt: timestampFromMs(Date.now()) };
    await using _held = await holdPool(
      'LOCK TABLE session_end IN ACCESS EXCLUSIVE MODE',
      () => consent.sessions.checkSession(asked),
      ACCESS_POOL_SIZE,
    );
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    await consent.asGateway.revokeGrant({ id: other.grantId }, session);
    expect(await record(consent, accessOf(other))).toBe(Verdict.GRANT_REVOKED);
    expect((await fetch(`http://127.0.0.1:${consent.service.probePort}/readyz`)).status).toBe(200);
  });

  test('a read is recorded and judged while blocked revocations occupy every connection of their pool', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, await registerApp(consent), 'undisturbed');
    const familyId = newId('fam');
    await using _held = await holdPool(`SELECT FROM app WHERE client_id = '${app.clientId}' FOR UPDATE`, () =>
      consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.SUSPENDED }),
    );
    expect(await record(consent, { ...accessOf(grant), familyId })).toBe(Verdict.RELEASED);
    const alive = { clientId: app.clientId, appEpoch: 1, grantId: '', familyId, tokenHash: new Uint8Array() };
    expect(await consent.checkLiveness(alive)).toMatchObject({ appAlive: true, familyAlive: true });
  });
});
