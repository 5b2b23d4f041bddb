import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { decodeJwt } from 'jose';
import {
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  openPending,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;
let app: RegisteredApp;

beforeAll(async () => {
  consent = await startConsent({ settings: { MAX_LIVE_PENDING_PER_APP: '5' } });
  app = await registerApp(consent);
});
afterAll(() => consent[Symbol.asyncDispose]());

const get = async (id: string, userId: string) =>
  (await consent.asGateway.getPendingApproval({ id }, await consent.session(userId))).pendingApproval;
const approveAll = async (id: string, userId: string) =>
  consent.asAuthorization.approve({ id, allRequested: true }, await consent.session(userId));
const deny = async (id: string, userId: string) =>
  consent.asAuthorization.deny({ id }, await consent.session(userId));
const purposesOnReceipt = async (grantId: string, userId: string) => {
  const { receipt } = await consent.asGateway.getReceipt({ grantId }, await consent.session(userId));
  const { purposes } = decodeJwt<{ purposes: { purpose: string | null }[] }>(receipt);
  return purposes.map(({ purpose }) => purpose);
};
const expire = (id: string) =>
  consent.owner.query('UPDATE pending_approval SET expires_at = now() WHERE id = $1', [id]);

describe('opening', () => {
  test('shows the app, the scopes and what is already shared', async () => {
    const shown = await registerApp(consent);
    await approve(consent, shown, 'viewer', { requested: [HEART] });
    const id = await openPending(consent, shown, [GLUCOSE, HEART]);
    const pending = await get(id, 'viewer');
    expect(pending).toMatchObject({
      id,
      status: PendingStatus.PENDING,
      app: { clientId: shown.clientId, name: 'Pulse Diary', privacyPolicyUrl: 'https://pulse.test/privacy' },
      redirectHost: 'pulse.test',
      requestedScopes: [
        { scope: HEART, alreadyShared: true },
        { scope: GLUCOSE, alreadyShared: false },
      ],
      purpose: 'Draw your pulse.',
      clientAuthenticated: true,
    });
    expect(Number(pending?.expiresAt?.seconds) - Number(pending?.createdAt?.seconds)).toBe(600);
  });

  test("without the app's secret drops the purpose: it is neither stored, shown nor on the receipt", async () => {
    const id = await openPending(consent, await registerApp(consent), [HEART], false);
    const { rows } = await consent.owner.query('SELECT purpose FROM pending_approval WHERE id = $1', [id]);
    expect(rows).toEqual([{ purpose: '' }]);
    expect(await get(id, 'misled')).toMatchObject({ purpose: '', clientAuthenticated: false });
    const { grantId } = await approveAll(id, 'misled');
    expect(await purposesOnReceipt(grantId, 'misled')).toEqual([null]);
  });

  test("a purpose that an earlier release stored without the app's secret is neither shown nor put on the receipt", async () => {
    const id = await openPending(consent, await registerApp(consent), [HEART], false);
    await consent.owner.query('UPDATE pending_approval SET purpose = $2 WHERE id = $1', [id, 'Trust me.']);
    expect(await get(id, 'warned')).toMatchObject({ purpose: '' });
    const { grantId } = await approveAll(id, 'warned');
    expect(await purposesOnReceipt(grantId, 'warned')).toEqual([null]);
  });

  test('with the same id again returns the same; with the id of another app it is a conflict', async () => {
    const one = await registerApp(consent);
    const id = await openPending(consent, one);
    const request = { id, app: one, appEpoch: one.epoch, redirectHost: 'pulse.test', scopes: [HEART] };
    const again = await consent.asAuthorization.openPendingApproval(request);
    const other = await registerApp(consent);
    const pending = await get(id, 'anybody');
    expect(again.expiresAt).toEqual(pending?.expiresAt);
    await expect(
      consent.asAuthorization.openPendingApproval({ ...request, app: other, appEpoch: other.epoch }),
    ).rejects.toMatchObject({ reason: 'conflict' });
  });

  test('is limited for each app, even under concurrent openings, until one is decided or expires', async () => {
    const busy = await registerApp(consent);
    const attempts = await Promise.allSettled(Array.from({ length: 12 }, () => openPending(consent, busy)));
    const opened = attempts
      .filter((attempt) => attempt.status === 'fulfilled')
      .map((attempt) => attempt.value);
    const refused = attempts
      .filter((attempt) => attempt.status === 'rejected')
      .map((attempt) => attempt.reason);
    expect(opened).toHaveLength(5);
    for (const reason of refused) expect(reason).toMatchObject({ reason: 'rate_limited' });
    expect(refused[0].retryAfterSeconds).toBeGreaterThan(0);
    expect(refused[0].retryAfterSeconds).toBeLessThanOrEqual(600);
    await deny(opened[0]!, 'tidy');
    await expire(opened[1]!);
    await openPending(consent, busy);
    await openPending(consent, busy);
    await expect(openPending(consent, busy)).rejects.toMatchObject({ reason: 'rate_limited' });
    await openPending(consent, await registerApp(consent));
  });

  test.each([
    ['suspended', AppStatus.SUSPENDED],
    ['revoked', AppStatus.REVOKED],
  ])('is refused for an app that is %s, and for an unknown app', async (_status, status) => {
    const ended = await registerApp(consent);
    await consent.ledger.setAppStatus({ clientId: ended.clientId, status });
    await expect(openPending(consent, ended)).rejects.toMatchObject({ reason: 'app_not_active' });
    const unknown = { ...ended, clientId: newId('app') };
    await expect(openPending(consent, unknown)).rejects.toMatchObject({ reason: 'app_not_active' });
  });

  test('is refused for credentials of an earlier epoch of the app', async () => {
    const reborn = await registerApp(consent);
    await consent.ledger.setAppStatus({ clientId: reborn.clientId, status: AppStatus.REVOKED });
    await consent.ledger.setAppStatus({ clientId: reborn.clientId, status: AppStatus.ACTIVE });
    await expect(openPending(consent, reborn)).rejects.toMatchObject({ reason: 'app_not_active' });
  });

  test.each([
    ['id', { id: 'apr_short' }],
    ['scopes', { scopes: ['read:everything'] }],
    ['scopes', { scopes: [] }],
    ['redirectHost', { redirectHost: '' }],
    ['purpose', { purpose: 'a\0b' }],
  ])('names the malformed field: %s', async (parameter, change) => {
    const request = {
      id: newId('apr'),
      app,
      appEpoch: 1,
      redirectHost: 'pulse.test',
      scopes: [HEART],
      ...change,
    };
    await expect(consent.asAuthorization.openPendingApproval(request)).rejects.toMatchObject({
      reason: 'invalid_request',
      violations: [expect.objectContaining({ parameter })],
    });
  });
});

describe('a pending approval', () => {
  test('belongs to the first person who opens it; for others it is not found', async () => {
    const id = await openPending(consent, await registerApp(consent));
    await get(id, 'ada');
    await get(id, 'ada');
    for (const attempt of [get, approveAll, deny]) {
      await expect(attempt(id, 'grace')).rejects.toMatchObject({ reason: 'not_found' });
    }
    await expect(get(newId('apr'), 'ada')).rejects.toMatchObject({ reason: 'not_found' });
    await expect(get("apr_' OR 1=1 --", 'ada')).rejects.toMatchObject({ reason: 'not_found' });
    expect((await approveAll(id, 'ada')).userId).toBe('ada');
  });

  test('is also claimed by a decision', async () => {
    const id = await openPending(consent, await registerApp(consent));
    await approveAll(id, 'ada');
    await expect(get(id, 'grace')).rejects.toMatchObject({ reason: 'not_found' });
  });

  test('is listed for its claimant and, while unclaimed, for the developer of its app', async () => {
    const mine = await registerApp(consent, 'developer');
    const [first, second] = [await openPending(consent, mine), await openPending(consent, mine)];
    await get(first, 'lister');
    const list = async (userId: string, status = PendingStatus.UNSPECIFIED) => {
      const answer = await consent.asGateway.listPendingApprovals({ status }, await consent.session(userId));
      return { ids: answer.pendingApprovals.map((pending) => pending.id), total: answer.total };
    };
    expect(await list('lister')).toEqual({ ids: [first], total: 1 });
    expect(await list('developer')).toEqual({ ids: [second], total: 1 });
    await deny(first, 'lister');
    expect(await list('lister', PendingStatus.PENDING)).toEqual({ ids: [], total: 0 });
    expect(await list('lister', PendingStatus.DENIED)).toEqual({ ids: [first], total: 1 });
    expect(await list('stranger')).toEqual({ ids: [], total: 0 });
  });

  test('expires after 600 seconds and stays expired, even when its app is revoked', async () => {
    const brief = await registerApp(consent);
    const id = await openPending(consent, brief);
    await expire(id);
    expect((await get(id, 'late'))?.status).toBe(PendingStatus.EXPIRED);
    for (const attempt of [approveAll, deny]) {
      await expect(attempt(id, 'late')).rejects.toMatchObject({ reason: 'pending_expired' });
    }
    await consent.ledger.setAppStatus({ clientId: brief.clientId, status: AppStatus.REVOKED });
    expect((await get(id, 'late'))?.status).toBe(PendingStatus.EXPIRED);
  });

  test('is cancelled permanently by the revocation of its app', async () => {
    const ended = await registerApp(consent);
    const id = await openPending(consent, ended);
    await consent.ledger.setAppStatus({ clientId: ended.clientId, status: AppStatus.REVOKED });
    expect((await get(id, 'ada'))?.status).toBe(PendingStatus.CANCELLED);
    await expect(approveAll(id, 'ada')).rejects.toMatchObject({ reason: 'app_not_active' });
    await consent.ledger.setAppStatus({ clientId: ended.clientId, status: AppStatus.ACTIVE });
    await expect(approveAll(id, 'ada')).rejects.toMatchObject({ reason: 'already_decided' });
    await expect(deny(id, 'ada')).rejects.toMatchObject({ reason: 'already_decided' });
  });

  test('shows its claimant the terms that repeat an approval, once it is approved', async () => {
    const id = await openPending(consent, await registerApp(consent));
    expect((await get(id, 'ada'))?.approved).toBeUndefined();
    const terms = { scopes: [GLUCOSE], expiresInDays: 30, dataFrom: '2026-01-01' };
    const session = await consent.session('ada');
    await consent.asAuthorization.approve({ id, ...terms }, session);
    const approved = (await get(id, 'ada'))?.approved;
    expect(approved).toMatchObject(terms);
    const { scopes, expiresInDays, dataFrom } = approved ?? terms;
    const repeated = { id, scopes, expiresInDays, dataFrom };
    expect((await consent.asAuthorization.approve(repeated, session)).repeatedDecision).toBe(true);
  });

  test('stays pending while its app is suspended', async () => {
    const paused = await registerApp(consent);
    const id = await openPending(consent, paused);
    await consent.ledger.setAppStatus({ clientId: paused.clientId, status: AppStatus.SUSPENDED });
    await expect(approveAll(id, 'ada')).rejects.toMatchObject({ reason: 'app_not_active' });
    await consent.ledger.setAppStatus({ clientId: paused.clientId, status: AppStatus.ACTIVE });
    expect((await approveAll(id, 'ada')).scopes).toEqual([HEART, GLUCOSE]);
  });

  test('stays pending after an approval without scopes, or with one that was not requested', async () => {
    const id = await openPending(consent, await registerApp(consent));
    const session = await consent.session('ada');
    const attempt = (scopes: string[]) => consent.asAuthorization.approve({ id, scopes }, session);
    await expect(attempt([])).rejects.toMatchObject({ reason: 'no_scopes_approved' });
    await expect(attempt([MOOD])).rejects.toMatchObject({ reason: 'invalid_request' });
    await expect(
      consent.asAuthorization.approve({ id, allRequested: true, expiresInDays: 7 }, session),
    ).rejects.toMatchObject({ reason: 'invalid_request' });
    expect((await get(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
    expect((await attempt([HEART])).scopes).toEqual([HEART]);
  });
});
