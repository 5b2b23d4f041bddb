import { timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import {
  accessOf,
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  type RunningService,
  record,
  registerApp,
  startConsent,
} from './running-service.ts';

let consent: RunningService;

beforeAll(async () => {
  consent = await startConsent();
});
afterAll(() => consent[Symbol.asyncDispose]());

const DAY_MS = 86_400_000;
const getGrant = async (id: string, userId: string) => {
  const { grant } = await consent.asGateway.getGrant({ id }, await consent.session(userId));
  if (grant === undefined) throw new Error('an answer without a grant');
  return grant;
};
const narrow = async (userId: string, change: object & { id: string }) =>
  (await consent.asGateway.narrowGrant(change, await consent.session(userId))).grant;
const revoke = async (id: string, userId: string) =>
  consent.asGateway.revokeGrant({ id }, await consent.session(userId));
const revokeAll = async (userId: string) =>
  consent.asGateway.revokeAllGrants({}, await consent.session(userId));
const end = (id: string, left = '0 seconds') =>
  consent.owner.query('UPDATE consent_grant SET expires_at = now() + $2::interval WHERE id = $1', [id, left]);

describe('a new approval', () => {
  test('joins the live grant: scopes not requested stay, requested scopes that are not approved are removed', async () => {
    const app = await registerApp(consent);
    const first = await approve(consent, app, 'joiner', { requested: [HEART, MOOD] });
    const second = await approve(consent, app, 'joiner', {
      requested: [HEART, GLUCOSE],
      approved: [GLUCOSE],
      days: 30,
      dataFrom: '2026-01-01',
    });
    expect(second.grantId).toBe(first.grantId);
    expect(second.scopes).toEqual([GLUCOSE]);
    const grant = await getGrant(first.grantId, 'joiner');
    expect(grant).toMatchObject({
      scopes: [GLUCOSE, MOOD],
      status: GrantStatus.ACTIVE,
      dataFrom: '2026-01-01',
    });
    expect(grant.expiresAt).toEqual(second.grantExpiresAt);
    expect(timestampMs(grant.expiresAt!) - timestampMs(second.decidedAt!)).toBe(30 * DAY_MS);
    expect(await record(consent, accessOf(first))).toBe(Verdict.SCOPE_WITHDRAWN);
  });

  test.each([
    ['revoked', (id: string) => revoke(id, 'again')],
    ['expired', (id: string) => end(id)],
    ['come to its last seconds', (id: string) => end(id, '5 seconds')],
  ])('after the grant has %s creates another one; the old one stays ended', async (_state, endIt) => {
    const app = await registerApp(consent);
    const old = await approve(consent, app, 'again', { requested: [HEART, MOOD] });
    await endIt(old.grantId);
    const fresh = await approve(consent, app, 'again', { requested: [HEART] });
    expect(fresh.grantId).not.toBe(old.grantId);
    expect((await getGrant(fresh.grantId, 'again')).scopes).toEqual([HEART]);
    expect((await getGrant(old.grantId, 'again')).status).not.toBe(GrantStatus.ACTIVE);
    expect(await record(consent, accessOf(old))).not.toBe(Verdict.RELEASED);
    expect(await record(consent, accessOf(fresh))).toBe(Verdict.RELEASED);
  });

  test('after the app was revoked and reactivated also creates another one', async () => {
    const app = await registerApp(consent);
    const old = await approve(consent, app, 'phoenix');
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.REVOKED });
    const { epoch } = await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.ACTIVE });
    const fresh = await approve(consent, { ...app, epoch }, 'phoenix');
    expect(fresh.grantId).not.toBe(old.grantId);
    expect(await record(consent, accessOf(old))).toBe(Verdict.GRANT_REVOKED);
    expect(await record(consent, accessOf(fresh))).toBe(Verdict.RELEASED);
  });
});

describe('narrowing', () => {
  test('takes effect before it returns, and may be repeated', async () => {
    const { grantId: id } = await approve(consent, await registerApp(consent), 'narrow');
    const expiresAt = timestampFromDate(new Date(Date.now() + DAY_MS));
    const change = { id, setScopes: true, scopes: [GLUCOSE], expiresAt, dataFrom: '2026-02-01' };
    const narrowed = await narrow('narrow', change);
    expect(narrowed).toMatchObject({ scopes: [GLUCOSE], dataFrom: '2026-02-01', expiresAt });
    expect(await narrow('narrow', change)).toEqual(narrowed);
    const { rows } = await consent.owner.query(
      'SELECT kind FROM consent_event WHERE grant_id = $1 ORDER BY at',
      [id],
    );
    expect(rows.map((row) => row.kind)).toEqual(['granted', 'narrowed']);
  });

  test.each([
    ['scopes', { setScopes: true, scopes: [HEART, MOOD] }],
    ['scopes', { setScopes: true, scopes: [] }],
    ['expiresAt', { expiresAt: timestampFromDate(new Date(Date.now() + 91 * DAY_MS)) }],
    ['dataFrom', { dataFrom: '2025-12-31' }],
    ['dataFrom', { dataFrom: '2026-02-30' }],
  ])('never widens, and names what would: %s', async (parameter, change) => {
    const { grantId: id } = await approve(consent, await registerApp(consent), 'wide', {
      dataFrom: '2026-01-01',
    });
    await expect(narrow('wide', { id, ...change })).rejects.toMatchObject({
      reason: 'invalid_request',
      violations: [expect.objectContaining({ parameter })],
    });
  });

  test("of an ended grant is a conflict, of another person's grant not found", async () => {
    const { grantId: id } = await approve(consent, await registerApp(consent), 'ended');
    await expect(narrow('stranger', { id })).rejects.toMatchObject({ reason: 'not_found' });
    await revoke(id, 'ended');
    await expect(narrow('ended', { id })).rejects.toMatchObject({ reason: 'conflict' });
  });
});

describe('revoking', () => {
  test('may be repeated: the grant keeps its revocation time', async () => {
    const { grantId: id } = await approve(consent, await registerApp(consent), 'leaver');
    const answers = await Promise.all([revoke(id, 'leaver'), revoke(id, 'leaver'), revoke(id, 'leaver')]);
    const grant = await getGrant(id, 'leaver');
    expect(grant).toMatchObject({ status: GrantStatus.REVOKED, revokedBy: 'user' });
    for (const { revokedAt } of answers) expect(revokedAt).toEqual(grant.revokedAt);
  });

  test('of a grant that had ended returns when it ended, and shows no other end: its expiry, or its app', async () => {
    const app = await registerApp(consent);
    const [over, ended] = [await approve(consent, app, 'over'), await approve(consent, app, 'ended-by-app')];
    await end(over.grantId);
    const { statusChangedAt } = await consent.ledger.setAppStatus({
      clientId: app.clientId,
      status: AppStatus.REVOKED,
    });
    const { grantId: id, clientId } = over;
    const byPerson = await revoke(id, 'over');
    const byApp = await consent.asAuthorization.revokeAppGrant({ clientId, id });
    const { grant } = await consent.asAuthorization.getAppGrant({ clientId, id });
    expect(grant).toMatchObject({ status: GrantStatus.EXPIRED, endedBy: 'expiry' });
    for (const { revokedAt } of [byPerson, byApp]) expect(revokedAt).toEqual(grant?.expiresAt);
    expect((await revoke(ended.grantId, 'ended-by-app')).revokedAt).toEqual(statusChangedAt);
    expect(await getGrant(ended.grantId, 'ended-by-app')).toMatchObject({ revokedBy: 'app' });
  });

  test.each<[string, (grant: { grantId: string; clientId: string; userId: string }) => Promise<unknown>]>([
    ['its person', ({ grantId, userId }) => revoke(grantId, userId)],
    ['its app', ({ grantId: id, clientId }) => consent.asAuthorization.revokeAppGrant({ clientId, id })],
    ['all', async ({ userId }) => expect(await revokeAll(userId)).toMatchObject({ revoked: 0 })],
  ])('by %s after the end makes no event, and holds when the clock goes back', async (by, endIt) => {
    const grant = await approve(consent, await registerApp(consent), `late ${by}`);
    await end(grant.grantId);
    await endIt(grant);
    const { status, revokedBy } = await getGrant(grant.grantId, grant.userId);
    expect({ status, revokedBy }).toEqual({ status: GrantStatus.EXPIRED, revokedBy: '' });
    const history = 'SELECT kind FROM consent_event WHERE grant_id = $1';
    expect((await consent.owner.query(history, [grant.grantId])).rows).toEqual([{ kind: 'granted' }]);
    // The clock cannot be set; a later end is the same to what compares both.
    await end(grant.grantId, '1 minute');
    expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
  });

  test("of another person's or unknown grant is not found and changes nothing", async () => {
    const { grantId: id } = await approve(consent, await registerApp(consent), 'owner');
    for (const attempt of [revoke(id, 'thief'), revoke(newId('grt'), 'thief'), getGrant(id, 'thief')]) {
      await expect(attempt).rejects.toMatchObject({ reason: 'not_found' });
    }
    expect((await getGrant(id, 'owner')).status).toBe(GrantStatus.ACTIVE);
  });

  test('all ends every active grant of this user and of no other', async () => {
    const apps = await Promise.all([registerApp(consent), registerApp(consent), registerApp(consent)]);
    const mine = await Promise.all(apps.map((app) => approve(consent, app, 'all')));
    const other = await approve(consent, apps[0]!, 'not-all');
    await revoke(mine[0]!.grantId, 'all');
    const [one, two] = await Promise.all([revokeAll('all'), revokeAll('all')]);
    expect(one.revoked + two.revoked).toBe(2);
    for (const grant of mine) expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
    expect(await record(consent, accessOf(other))).toBe(Verdict.RELEASED);
  });

  test('by the app is shown with its time, even after the app became active again', async () => {
    const app = await registerApp(consent);
    const grants = await Promise.all(['x1', 'x2', 'x3'].map((userId) => approve(consent, app, userId)));
    await end(grants[2]!.grantId);
    const { statusChangedAt } = await consent.ledger.setAppStatus({
      clientId: app.clientId,
      status: AppStatus.REVOKED,
    });
    await consent.ledger.setAppStatus({ clientId: app.clientId, status: AppStatus.ACTIVE });
    expect(await getGrant(grants[0]!.grantId, 'x1')).toMatchObject({
      status: GrantStatus.REVOKED,
      revokedBy: 'app',
      revokedAt: statusChangedAt,
    });
    expect((await revoke(grants[1]!.grantId, 'x2')).revokedAt).toEqual(statusChangedAt);
    expect((await getGrant(grants[2]!.grantId, 'x3')).status).toBe(GrantStatus.EXPIRED);
  });
});

describe('listing', () => {
  test('shows newest first, in pages, with released accesses', async () => {
    const apps = [await registerApp(consent), await registerApp(consent), await registerApp(consent)];
    const grants: Awaited<ReturnType<typeof approve>>[] = [];
    for (const app of apps) grants.push(await approve(consent, app, 'lister'));
    await record(consent, accessOf(grants[2]!));
    await record(consent, accessOf(grants[2]!));
    await record(consent, { ...accessOf(grants[2]!), scope: MOOD });
    await revoke(grants[0]!.grantId, 'lister');
    const list = async (page: object, status = GrantStatus.UNSPECIFIED) =>
      consent.asGateway.listGrants({ page, status }, await consent.session('lister'));
    const first = await list({ page: 1, pageSize: 2 });
    expect(first.grants.map((grant) => grant.id)).toEqual([grants[2]!.grantId, grants[1]!.grantId]);
    expect(first.grants[0]).toMatchObject({ accessCount: 2, app: { name: 'Pulse Diary' } });
    expect(first.grants[0]?.lastAccessAt).toBeDefined();
    expect(first.grants[1]).toMatchObject({ accessCount: 0 });
    const second = await list({ page: 2, pageSize: 2 });
    expect(second.grants.map((grant) => grant.id)).toEqual([grants[0]!.grantId]);
    expect([first.total, second.total, (await list({ page: 9 })).total]).toEqual([3, 3, 3]);
    expect((await list({}, GrantStatus.REVOKED)).grants.map((grant) => grant.id)).toEqual([
      grants[0]!.grantId,
    ]);
    expect((await list({}, GrantStatus.ACTIVE)).total).toBe(2);
  });

  test('for an app shows its grants without anything about the people', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'secret-person');
    const answer = await consent.asAuthorization.listAppGrants({ clientId: app.clientId });
    expect(answer.grants).toMatchObject([{ id: grant.grantId, scopes: [HEART, GLUCOSE] }]);
    expect(answer.total).toBe(1);
    const text = JSON.stringify(answer, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(text).not.toContain('secret-person');
  });
});
