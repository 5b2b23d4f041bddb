import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { decodeJwt } from 'jose';
import {
  approve,
  GLUCOSE,
  HEART,
  openPending,
  type RegisteredApp,
  registerApp,
  shareConsent,
} from './running-service.ts';

const consent = await shareConsent({ settings: { MAX_LIVE_PENDING_PER_APP: '5' } });

const get = async (id: string, userId: string) =>
  (await consent.as(userId).getPendingApproval({ id })).pendingApproval;
const approveAll = (id: string, userId: string) => consent.as(userId).approve({ id, allRequested: true });
const deny = (id: string, userId: string) => consent.as(userId).deny({ id });
const purposesOnReceipt = async (grantId: string, userId: string) => {
  const { receipt } = await consent.as(userId).getReceipt({ grantId });
  const { purposes } = decodeJwt<{ purposes: { purpose: string | null }[] }>(receipt);
  return purposes.map(({ purpose }) => purpose);
};

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
    const opened = attempts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const refused = attempts.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
    expect(opened).toHaveLength(5);
    for (const reason of refused) expect(reason).toMatchObject({ reason: 'rate_limited' });
    expect(refused[0].retryAfterSeconds).toBeGreaterThan(0);
    expect(refused[0].retryAfterSeconds).toBeLessThanOrEqual(600);
    await deny(opened[0]!, 'tidy');
    await leave(opened[1]!, 0);
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
      app: await registerApp(consent),
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

  test('is listed for its claimant and, while unclaimed, for the developer of its app', async () => {
    const mine = await registerApp(consent, 'developer');
    const [first, second] = [await openPending(consent, mine), await openPending(consent, mine)];
    await get(first, 'lister');
    const list = async (userId: string, status = PendingStatus.UNSPECIFIED) => {
      const answer = await consent.as(userId).listPendingApprovals({ status });
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
    await leave(id, 0);
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
});

const openAnonymously = (of: RegisteredApp) => openPending(consent, of, [HEART], false);

async function openFrom(network: string, app: RegisteredApp): Promise<string> {
  const id = newId('apr');
  const request = { id, app, appEpoch: app.epoch, redirectHost: 'pulse.test', scopes: [HEART], network };
  await consent.asAuthorization.openPendingApproval(request);
  return id;
}

/** Reads without claiming. */
const isThere = async (id: string) =>
  (await consent.owner.query('SELECT FROM pending_approval WHERE id = $1', [id])).rowCount === 1;

describe('a pending approval that was opened without the secret', () => {
  test('blocks no other request: the oldest unclaimed one is removed, and returned with the one that replaces it', async () => {
    const known = await registerApp(consent);
    const claimed = await openAnonymously(known);
    await get(claimed, 'ada');
    const own = await openPending(consent, known);
    const opened: string[] = [];
    const removed: string[][] = [];
    for (let index = 0; index < 12; index += 1) {
      const id = newId('apr');
      const request = { id, app: known, appEpoch: known.epoch, redirectHost: 'pulse.test', scopes: [HEART] };
      removed.push((await consent.asAuthorization.openPendingApproval(request)).removedIds);
      opened.push(id);
    }
    expect(removed).toEqual([...Array(5).fill([]), ...opened.slice(0, 7).map((id) => [id])]);
    const isLeft = await Promise.all(opened.map((id) => isThere(id)));
    expect(isLeft).toEqual([...Array(7).fill(false), ...Array(5).fill(true)]);
    // Approvals opened by the app itself are unaffected and have their own limit.
    for (let index = 1; index < 5; index += 1) await openPending(consent, known);
    await expect(openPending(consent, known)).rejects.toMatchObject({ reason: 'rate_limited' });
    for (const id of [claimed, own]) expect((await get(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
    expect((await approveAll(claimed, 'ada')).userId).toBe('ada');
  });

  test('does not count for the limit of the app, however many are claimed', async () => {
    const known = await registerApp(consent);
    for (let index = 0; index < 12; index += 1) await get(await openAnonymously(known), 'mallory');
    await openPending(consent, known);
  });

  test('is not removed by requests from other networks, as long as fewer than the limit have one', async () => {
    const known = await registerApp(consent);
    const own = await openFrom('home', known);
    for (let index = 0; index < 24; index += 1) await openFrom(`attacker ${index % 4}`, known);
    expect((await get(own, 'ada'))?.status).toBe(PendingStatus.PENDING);
    const other = await openFrom('home', known);
    for (let index = 0; index < 24; index += 1) await openFrom(`attacker ${index % 5}`, known);
    expect(await isThere(other)).toBe(false);
  });

  test('gives way once it has ended, before any other', async () => {
    const known = await registerApp(consent);
    const ended = await openFrom('home', known);
    await consent.owner.query('UPDATE pending_approval SET expires_at = now() WHERE id = $1', [ended]);
    const left: string[] = [];
    for (let index = 0; index < 5; index += 1) left.push(await openFrom('office', known));
    expect(await Promise.all([ended, ...left].map(isThere))).toEqual([false, ...Array(5).fill(true)]);
  });

  test('stays within its limit under concurrent openings', async () => {
    const known = await registerApp(consent);
    await Promise.all(Array.from({ length: 30 }, () => openAnonymously(known)));
    const rows = await consent.rows(
      'SELECT count(*)::int AS left FROM pending_approval WHERE client_id = $1',
      known.clientId,
    );
    expect(rows).toEqual([{ left: 5 }]);
  });

  test('claimed while it is being removed, is either claimed permanently or not found', async () => {
    const known = await registerApp(consent);
    for (let round = 0; round < 5; round += 1) {
      const id = await openAnonymously(known);
      const openings = Array.from({ length: 5 }, () => openAnonymously(known));
      const [claim] = await Promise.allSettled([get(id, 'ada'), ...openings]);
      for (let index = 0; index < 5; index += 1) await openAnonymously(known);
      const later = await get(id, 'ada').catch(({ reason }) => reason);
      if (claim.status === 'fulfilled') expect(later).toMatchObject({ id });
      else expect([claim.reason.reason, later]).toEqual(['not_found', 'not_found']);
    }
  });
});

test("without the app's secret, its purpose is neither stored, shown nor on the receipt", async () => {
  const id = await openPending(consent, await registerApp(consent), [HEART], false);
  const stored = 'SELECT purpose FROM pending_approval WHERE id = $1';
  expect(await consent.rows(stored, id)).toEqual([{ purpose: '' }]);
  expect(await get(id, 'reader')).toMatchObject({ purpose: '', clientAuthenticated: false });
  const { grantId } = await approveAll(id, 'reader');
  expect(await purposesOnReceipt(grantId, 'reader')).toEqual([null]);
});

const open = async (clientAuthenticated = true) =>
  openPending(consent, await registerApp(consent), undefined, clientAuthenticated);
const extend = (id: string, userId: string) => consent.as(userId).extendPendingApproval({ id });
const release = (id: string, userId: string) => consent.as(userId).releasePendingApproval({ id });

/** Leaves a request these seconds until its end; none for an expired one. */
const leave = (id: string, seconds: number) =>
  consent.owner.query(
    'UPDATE pending_approval SET expires_at = statement_timestamp() + make_interval(secs => $2) WHERE id = $1',
    [id, seconds],
  );

async function secondsLeft(id: string): Promise<number> {
  const rows = await consent.rows(
    'SELECT extract(epoch FROM expires_at - statement_timestamp())::float AS seconds FROM pending_approval WHERE id = $1',
    id,
  );
  return rows[0].seconds;
}

const check = async (id: string, userId: string) =>
  (
    await consent.asAuthorization.getPendingApproval(
      { id, withoutClaiming: true },
      await consent.session(userId),
    )
  ).pendingApproval;

test.each([
  ['reading without claiming', check],
  ['extending', extend],
  ['releasing', release],
])('%s finds neither the request of another person nor an unknown one', async (_, attempt) => {
  const id = await open();
  await get(id, 'ada');
  for (const unknown of [id, newId('apr'), 'nonsense']) {
    await expect(attempt(unknown, 'grace')).rejects.toMatchObject({
      reason: 'not_found',
      message: 'Not found.',
    });
  }
  expect((await get(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
});

describe('reading without claiming', () => {
  test('leaves a new or released request to the next person who opens it', async () => {
    const id = await open();
    expect((await check(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
    await get(id, 'ada');
    expect((await check(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
    await release(id, 'ada');
    expect((await check(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
    expect((await get(id, 'grace'))?.status).toBe(PendingStatus.PENDING);
    expect((await approveAll(id, 'grace')).userId).toBe('grace');
  });
});

describe('extending', () => {
  test('gives the claimant 600 seconds from now, ten times, and the request can then be approved', async () => {
    const id = await open();
    await get(id, 'ada');
    for (let count = 1; count <= 10; count += 1) {
      await leave(id, 5);
      const { expiresAt } = await extend(id, 'ada');
      const left = await secondsLeft(id);
      expect(left).toBeGreaterThan(500);
      expect(left).toBeLessThanOrEqual(600);
      expect((await get(id, 'ada'))?.expiresAt).toEqual(expiresAt);
    }
    await leave(id, 60);
    await expect(extend(id, 'ada')).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('10 times'),
    });
    expect(await secondsLeft(id)).toBeLessThanOrEqual(60);
    expect((await approveAll(id, 'ada')).userId).toBe('ada');
  });

  test('at once never gives more than ten extensions', async () => {
    const id = await open();
    await get(id, 'ada');
    const outcomes = await Promise.allSettled(Array.from({ length: 14 }, () => extend(id, 'ada')));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toEqual(Array(4).fill(expect.objectContaining({ reason: 'conflict' })));
  });

  test('is not possible before anybody has opened the request', async () => {
    await expect(extend(await open(), 'ada')).rejects.toMatchObject({ reason: 'not_found' });
  });

  test('does not keep the app from opening as many requests as before', async () => {
    const app = await registerApp(consent);
    for (let count = 0; count < 5; count += 1) {
      const id = await openPending(consent, app);
      await get(id, 'slow');
      await extend(id, 'slow');
    }
    const { expiresAt } = (await get(await openPending(consent, app), 'quick')) ?? {};
    expect(timestampMs(expiresAt!)).toBeGreaterThan(0);
    for (let count = 1; count < 5; count += 1) await openPending(consent, app);
    await expect(openPending(consent, app)).rejects.toMatchObject({ reason: 'rate_limited' });
  });
});

describe('releasing', () => {
  test('gives the request to the next person who opens it, and may be repeated until then', async () => {
    const id = await open();
    await get(id, 'ada');
    await release(id, 'ada');
    await release(id, 'ada');
    expect((await get(id, 'grace'))?.status).toBe(PendingStatus.PENDING);
    for (const attempt of [get, extend, release, approveAll, deny]) {
      await expect(attempt(id, 'ada')).rejects.toMatchObject({ reason: 'not_found' });
    }
    expect((await approveAll(id, 'grace')).userId).toBe('grace');
  });

  test("a request that was decided is refused and stays its claimant's", async () => {
    const id = await open();
    await approveAll(id, 'ada');
    await expect(release(id, 'ada')).rejects.toMatchObject({ reason: 'already_decided' });
    await expect(get(id, 'grace')).rejects.toMatchObject({ reason: 'not_found' });
  });

  test('keeps the number of extensions and the end', async () => {
    const id = await open();
    await get(id, 'ada');
    for (let count = 0; count < 9; count += 1) await extend(id, 'ada');
    const before = (await get(id, 'ada'))?.expiresAt;
    await release(id, 'ada');
    expect((await get(id, 'grace'))?.expiresAt).toEqual(before);
    await extend(id, 'grace');
    await expect(extend(id, 'grace')).rejects.toMatchObject({ reason: 'conflict' });
  });

  test('and approving at the same time leaves one owner', async () => {
    const id = await open();
    await get(id, 'ada');
    const [released, approved] = await Promise.allSettled([release(id, 'ada'), approveAll(id, 'ada')]);
    expect(approved.status).toBe('fulfilled');
    if (released.status === 'rejected') expect(released.reason).toMatchObject({ reason: 'already_decided' });
    await expect(get(id, 'grace')).rejects.toMatchObject({ reason: 'not_found' });
  });
});
