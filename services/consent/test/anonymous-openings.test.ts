import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { newId } from '@phds/service-kit/ids';
import {
  HEART,
  openPending,
  type RegisteredApp,
  type RunningService,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent({ settings: { MAX_LIVE_PENDING_PER_APP: '5' } });
});
afterAll(() => consent[Symbol.asyncDispose]());

const get = async (id: string, userId: string) =>
  (await consent.asGateway.getPendingApproval({ id }, await consent.session(userId))).pendingApproval;
const approveAll = async (id: string, userId: string) =>
  consent.asAuthorization.approve({ id, allRequested: true }, await consent.session(userId));
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
  test('blocks no other request: the oldest unclaimed one is removed', async () => {
    const known = await registerApp(consent);
    const claimed = await openAnonymously(known);
    await get(claimed, 'ada');
    const own = await openPending(consent, known);
    const opened: string[] = [];
    for (let index = 0; index < 12; index += 1) opened.push(await openAnonymously(known));
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

  test('is returned with the ids of those that were removed for it', async () => {
    const known = await registerApp(consent);
    const ids: string[] = [];
    const removed: string[][] = [];
    for (let index = 0; index < 7; index += 1) {
      const id = newId('apr');
      const request = { id, app: known, appEpoch: known.epoch, redirectHost: 'pulse.test', scopes: [HEART] };
      removed.push((await consent.asAuthorization.openPendingApproval(request)).removedIds);
      ids.push(id);
    }
    expect(removed).toEqual([[], [], [], [], [], [ids[0]], [ids[1]]]);
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
    const { rows } = await consent.owner.query(
      'SELECT count(*)::int AS left FROM pending_approval WHERE client_id = $1',
      [known.clientId],
    );
    expect(rows).toEqual([{ left: 5 }]);
  });

  test('claimed while it is being removed, is either claimed permanently or not found', async () => {
    const known = await registerApp(consent);
    for (let round = 0; round < 20; round += 1) {
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
