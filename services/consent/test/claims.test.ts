import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { openPending, type RunningService, registerApp, startConsent } from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent({ settings: { MAX_LIVE_PENDING_PER_APP: '3' } });
});
afterAll(() => consent[Symbol.asyncDispose]());

const open = async (clientAuthenticated = true) =>
  openPending(consent, await registerApp(consent), undefined, clientAuthenticated);
const look = async (id: string, userId: string) =>
  (await consent.asGateway.getPendingApproval({ id }, await consent.session(userId))).pendingApproval;
const extend = async (id: string, userId: string) =>
  consent.asAuthorization.extendPendingApproval({ id }, await consent.session(userId));
const release = async (id: string, userId: string) =>
  consent.asGateway.releasePendingApproval({ id }, await consent.session(userId));
const approve = async (id: string, userId: string) =>
  consent.asAuthorization.approve({ id, allRequested: true }, await consent.session(userId));
const deny = async (id: string, userId: string) =>
  consent.asAuthorization.deny({ id }, await consent.session(userId));

/** Leaves a request these seconds until its end; none for an expired one. */
const leave = (id: string, seconds: number) =>
  consent.owner.query(
    'UPDATE pending_approval SET expires_at = statement_timestamp() + make_interval(secs => $2) WHERE id = $1',
    [id, seconds],
  );

async function secondsLeft(id: string): Promise<number> {
  const { rows } = await consent.owner.query(
    'SELECT extract(epoch FROM expires_at - statement_timestamp())::float AS seconds FROM pending_approval WHERE id = $1',
    [id],
  );
  return rows[0].seconds;
}

/** Puts a claimed request into a state in which nothing can be decided any more. */
const ENDINGS: readonly [state: string, reason: string, end: (id: string) => Promise<unknown>][] = [
  ['expired', 'pending_expired', (id) => leave(id, 0)],
  ['approved', 'already_decided', (id) => approve(id, 'ada')],
  ['denied', 'already_decided', (id) => deny(id, 'ada')],
  [
    'cancelled',
    'already_decided',
    async (id) => {
      const clientId = (await look(id, 'ada'))?.app?.clientId ?? '';
      await consent.ledger.setAppStatus({ clientId, status: AppStatus.REVOKED });
    },
  ],
];

describe('reading without claiming', () => {
  const check = async (id: string, userId: string) =>
    (
      await consent.asAuthorization.getPendingApproval(
        { id, withoutClaiming: true },
        await consent.session(userId),
      )
    ).pendingApproval;

  test('leaves a new or released request to the next person who opens it', async () => {
    const id = await open();
    expect((await check(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
    await look(id, 'ada');
    expect((await check(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
    await release(id, 'ada');
    expect((await check(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
    expect((await look(id, 'grace'))?.status).toBe(PendingStatus.PENDING);
    expect((await approve(id, 'grace')).userId).toBe('grace');
  });

  test("finds neither another person's request nor an unknown one", async () => {
    const id = await open();
    await look(id, 'ada');
    for (const unknown of [id, newId('apr'), 'nonsense']) {
      await expect(check(unknown, 'grace')).rejects.toMatchObject({
        reason: 'not_found',
        message: 'Not found.',
      });
    }
  });
});

describe('extending', () => {
  test('gives the claimant 600 seconds from now, ten times, and the request can then be approved', async () => {
    const id = await open();
    await look(id, 'ada');
    for (let count = 1; count <= 10; count += 1) {
      await leave(id, 5);
      const { expiresAt } = await extend(id, 'ada');
      const left = await secondsLeft(id);
      expect(left).toBeGreaterThan(500);
      expect(left).toBeLessThanOrEqual(600);
      expect((await look(id, 'ada'))?.expiresAt).toEqual(expiresAt);
    }
    await leave(id, 60);
    await expect(extend(id, 'ada')).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('10 times'),
    });
    expect(await secondsLeft(id)).toBeLessThanOrEqual(60);
    expect((await approve(id, 'ada')).userId).toBe('ada');
  });

  test('at once never gives more than ten extensions', async () => {
    const id = await open();
    await look(id, 'ada');
    const outcomes = await Promise.allSettled(Array.from({ length: 14 }, () => extend(id, 'ada')));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toEqual(Array(4).fill(expect.objectContaining({ reason: 'conflict' })));
  });

  test.each(ENDINGS)('a request that is %s is refused as %s and leaves its end', async (_, reason, end) => {
    const id = await open();
    await look(id, 'ada');
    await end(id);
    const before = (await look(id, 'ada'))?.expiresAt;
    await expect(extend(id, 'ada')).rejects.toMatchObject({ reason });
    expect((await look(id, 'ada'))?.expiresAt).toEqual(before);
  });

  test('is for the claimant: for others, and before anybody has opened it, the request is not found', async () => {
    const id = await open();
    await expect(extend(id, 'ada')).rejects.toMatchObject({ reason: 'not_found' });
    await look(id, 'ada');
    for (const unknown of [id, newId('apr'), 'nonsense']) {
      await expect(extend(unknown, 'grace')).rejects.toMatchObject({ reason: 'not_found' });
    }
  });

  test('does not keep the app from opening as many requests as before', async () => {
    const app = await registerApp(consent);
    for (let count = 0; count < 3; count += 1) {
      const id = await openPending(consent, app);
      await look(id, 'slow');
      await extend(id, 'slow');
    }
    const { expiresAt } = (await look(await openPending(consent, app), 'quick')) ?? {};
    expect(timestampMs(expiresAt!)).toBeGreaterThan(0);
    await openPending(consent, app);
    await openPending(consent, app);
    await expect(openPending(consent, app)).rejects.toMatchObject({ reason: 'rate_limited' });
  });
});

describe('releasing', () => {
  test('gives the request to the next person who opens it, and may be repeated until then', async () => {
    const id = await open();
    await look(id, 'ada');
    await release(id, 'ada');
    await release(id, 'ada');
    expect((await look(id, 'grace'))?.status).toBe(PendingStatus.PENDING);
    for (const attempt of [look, extend, release, approve, deny]) {
      await expect(attempt(id, 'ada')).rejects.toMatchObject({ reason: 'not_found' });
    }
    expect((await approve(id, 'grace')).userId).toBe('grace');
  });

  test('by somebody else is not found and leaves the claim', async () => {
    const id = await open();
    await look(id, 'ada');
    for (const unknown of [id, newId('apr'), 'nonsense']) {
      await expect(release(unknown, 'grace')).rejects.toMatchObject({ reason: 'not_found' });
    }
    expect((await look(id, 'ada'))?.status).toBe(PendingStatus.PENDING);
  });

  test.each(ENDINGS)(
    "a request that is %s is refused as %s and stays its claimant's",
    async (_, reason, end) => {
      const id = await open();
      await look(id, 'ada');
      await end(id);
      await expect(release(id, 'ada')).rejects.toMatchObject({ reason });
      await expect(look(id, 'grace')).rejects.toMatchObject({ reason: 'not_found' });
    },
  );

  test('keeps the number of extensions and the end', async () => {
    const id = await open();
    await look(id, 'ada');
    for (let count = 0; count < 9; count += 1) await extend(id, 'ada');
    const before = (await look(id, 'ada'))?.expiresAt;
    await release(id, 'ada');
    expect((await look(id, 'grace'))?.expiresAt).toEqual(before);
    await extend(id, 'grace');
    await expect(extend(id, 'grace')).rejects.toMatchObject({ reason: 'conflict' });
  });

  test('shows the next person what they themselves share with the app, not what the first one shares', async () => {
    const app = await registerApp(consent);
    await approve(await openPending(consent, app), 'ada');
    const id = await openPending(consent, app);
    const first = await look(id, 'ada');
    expect(first?.connection).toBeDefined();
    await release(id, 'ada');
    const second = await look(id, 'grace');
    expect(second?.connection).toBeUndefined();
    expect(second?.revision).not.toBe(first?.revision);
  });

  test('and approving at the same time leaves one owner', async () => {
    const id = await open();
    await look(id, 'ada');
    const [released, approved] = await Promise.allSettled([release(id, 'ada'), approve(id, 'ada')]);
    expect(approved.status).toBe('fulfilled');
    if (released.status === 'rejected') expect(released.reason).toMatchObject({ reason: 'already_decided' });
    await expect(look(id, 'grace')).rejects.toMatchObject({ reason: 'not_found' });
  });
});
