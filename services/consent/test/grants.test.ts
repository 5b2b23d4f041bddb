import { timestampDate, timestampFromDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newId } from '@phds/service-kit/ids';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { decodeJwt } from 'jose';
import {
  accessOf,
  approve,
  GLUCOSE,
  HEART,
  MOOD,
  openPending,
  type RegisteredApp,
  record,
  registerApp,
  shareConsent,
} from './running-service.ts';

const lines: string[] = [];
const log = createLogger({ service: 'consent', destination: { write: (line) => void lines.push(line) } });
const consent = await shareConsent({ overrides: { log } });

const revoke = (id: string, userId: string) => consent.as(userId).revokeGrant({ id });
const DAY_MS = 86_400_000;
const getGrant = async (id: string, userId: string) => {
  const [grant] = (await consent.as(userId).listGrants({ grantId: id })).grants;
  if (grant === undefined) throw new Error('an answer without a grant');
  return grant;
};

const narrow = async (userId: string, change: object & { id: string }) =>
  (await consent.as(userId).narrowGrant(change)).grant;
const revokeAll = (userId: string) => consent.as(userId).revokeAllGrants({});
const expire = (id: string, left = '0 seconds') =>
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

  const restart = async ({ clientId }: RegisteredApp) => {
    await consent.ledger.setAppStatus({ clientId, status: AppStatus.REVOKED });
    await consent.ledger.setAppStatus({ clientId, status: AppStatus.ACTIVE });
  };

  test.each<[string, Verdict, (id: string, app: RegisteredApp) => Promise<unknown>, epoch?: number]>([
    ['was revoked', Verdict.GRANT_REVOKED, (id) => revoke(id, 'again')],
    ['expired', Verdict.GRANT_EXPIRED, (id) => expire(id)],
    ['came to its last seconds', Verdict.GRANT_EXPIRED, (id) => expire(id, '5 seconds')],
    ['ended with its app, which is active again', Verdict.GRANT_REVOKED, (_, app) => restart(app), 2],
  ])(
    'after the grant %s creates another one; the old one stays ended',
    async (_, verdict, endIt, epoch = 1) => {
      const app = await registerApp(consent);
      const old = await approve(consent, app, 'again', { requested: [HEART, MOOD] });
      await endIt(old.grantId, app);
      const fresh = await approve(consent, { ...app, epoch }, 'again', { requested: [HEART] });
      expect(fresh.grantId).not.toBe(old.grantId);
      expect((await getGrant(fresh.grantId, 'again')).scopes).toEqual([HEART]);
      expect((await getGrant(old.grantId, 'again')).status).not.toBe(GrantStatus.ACTIVE);
      expect(await record(consent, accessOf(old))).toBe(verdict);
      expect(await record(consent, accessOf(fresh))).toBe(Verdict.RELEASED);
    },
  );
});

describe('narrowing', () => {
  test('takes effect before it returns, and may be repeated', async () => {
    const { grantId: id } = await approve(consent, await registerApp(consent), 'narrow');
    const expiresAt = timestampFromDate(new Date(Date.now() + DAY_MS));
    const change = { id, setScopes: true, scopes: [GLUCOSE], expiresAt, dataFrom: '2026-02-01' };
    const narrowed = await narrow('narrow', change);
    expect(narrowed).toMatchObject({ scopes: [GLUCOSE], dataFrom: '2026-02-01', expiresAt });
    expect(await narrow('narrow', change)).toEqual(narrowed);
    const rows = await consent.rows('SELECT kind FROM consent_event WHERE grant_id = $1 ORDER BY at', id);
    expect(rows.map((row) => row.kind)).toEqual(['granted', 'narrowed']);
  });

  test("of an ended grant is a conflict, of another person's grant not found", async () => {
    const { grantId: id } = await approve(consent, await registerApp(consent), 'ended');
    await expect(narrow('stranger', { id })).rejects.toMatchObject({ reason: 'not_found' });
    await revoke(id, 'ended');
    await expect(narrow('ended', { id })).rejects.toMatchObject({ reason: 'conflict' });
  });
});

describe('revoking', () => {
  test('is in the log with the grant, whoever ends or narrows it, and without the person', async () => {
    const app = async () => (await approve(consent, await registerApp(consent), 'logged-person')).grantId;
    const [narrowed, own, byOperator, last] = [await app(), await app(), await app(), await app()];
    lines.length = 0;
    await narrow('logged-person', { id: narrowed, ...{ setScopes: true, scopes: [HEART] } });
    await revoke(own, 'logged-person');
    await consent.grants.asOperator.endGrant({ grantId: byOperator });
    await revokeAll('logged-person');
    const logged = lines.map((line) => JSON.parse(line)).filter(({ grantId }) => grantId !== undefined);
    expect(logged.slice(0, 3)).toMatchObject([
      { grantId: narrowed, msg: 'grant narrowed', time: expect.any(String) },
      { grantId: own, msg: 'grant ended', time: expect.any(String) },
      { grantId: byOperator, msg: 'grant ended' },
    ]);
    expect(
      logged
        .slice(3)
        .map(({ grantId }) => grantId)
        .sort(),
    ).toEqual([last, narrowed].sort());
    expect(lines.join('')).not.toContain('logged-person');
  });

  test('of a grant that had ended returns when it ended, and shows no other end: its expiry, or its app, even if that is active again', async () => {
    const app = await registerApp(consent);
    const [over, ended] = [await approve(consent, app, 'over'), await approve(consent, app, 'ended-by-app')];
    await expire(over.grantId);
    const { statusChangedAt } = await consent.ledger.setAppStatus({
      clientId: app.clientId,
      status: AppStatus.REVOKED,
    });
    const { grantId: id, clientId } = over;
    const byPerson = await revoke(id, 'over');
    const byApp = await consent.asAuthorization.revokeAppGrant({ clientId, id });
    const grant = await appGrantOf({ clientId }, id);
    expect(grant).toMatchObject({ status: GrantStatus.EXPIRED, endedBy: 'expiry' });
    for (const { revokedAt } of [byPerson, byApp]) expect(revokedAt).toEqual(grant.expiresAt);
    await consent.ledger.setAppStatus({ clientId, status: AppStatus.ACTIVE });
    expect((await revoke(ended.grantId, 'ended-by-app')).revokedAt).toEqual(statusChangedAt);
    expect(await getGrant(ended.grantId, 'ended-by-app')).toMatchObject({
      status: GrantStatus.REVOKED,
      revokedBy: 'app',
      revokedAt: statusChangedAt,
    });
  });

  test.each<[string, (grant: { grantId: string; clientId: string; userId: string }) => Promise<unknown>]>([
    ['its person', ({ grantId, userId }) => revoke(grantId, userId)],
    ['its app', ({ grantId: id, clientId }) => consent.asAuthorization.revokeAppGrant({ clientId, id })],
    ['all', async ({ userId }) => expect(await revokeAll(userId)).toMatchObject({ revoked: 0 })],
  ])('by %s after the end makes no event, and holds when the clock goes back', async (by, endIt) => {
    const grant = await approve(consent, await registerApp(consent), `late ${by}`);
    await expire(grant.grantId);
    await endIt(grant);
    const { status, revokedBy } = await getGrant(grant.grantId, grant.userId);
    expect({ status, revokedBy }).toEqual({ status: GrantStatus.EXPIRED, revokedBy: '' });
    const history = 'SELECT kind FROM consent_event WHERE grant_id = $1';
    expect(await consent.rows(history, grant.grantId)).toEqual([{ kind: 'granted' }]);
    // The clock cannot be set; a later end is the same to what compares both.
    await expire(grant.grantId, '1 minute');
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
});

describe('listing', () => {
  test('shows operators how many grants a person has and had, and the last released read of any', async () => {
    const read = await approve(consent, await registerApp(consent), 'collector');
    const ofCollector = () => consent.people.getPerson({ userId: 'collector' });
    await record(consent, { ...accessOf(read), scope: MOOD });
    expect((await ofCollector()).lastAccessAt).toBeUndefined();
    await record(consent, accessOf(read));
    const { lastAccessAt } = await getGrant(read.grantId, 'collector');
    await record(consent, { ...accessOf(read), scope: MOOD });
    const later = await approve(consent, await registerApp(consent), 'collector');
    await revoke(later.grantId, 'collector');
    expect(lastAccessAt).toBeDefined();
    expect(await ofCollector()).toMatchObject({ activeGrants: 1, endedGrants: 1, lastAccessAt });
  });

  test('shows newest first, in pages, with released accesses', async () => {
    const apps = [await registerApp(consent), await registerApp(consent), await registerApp(consent)];
    const grants: Awaited<ReturnType<typeof approve>>[] = [];
    for (const app of apps) grants.push(await approve(consent, app, 'lister'));
    await record(consent, accessOf(grants[2]!));
    await record(consent, accessOf(grants[2]!));
    await record(consent, { ...accessOf(grants[2]!), scope: MOOD });
    await revoke(grants[0]!.grantId, 'lister');
    const list = (page: object, status = GrantStatus.UNSPECIFIED) =>
      consent.as('lister').listGrants({ page, status });
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
});

const SUB = /^sub_[0-9A-Za-z]{22}$/;

async function appGrantOf({ clientId }: Pick<RegisteredApp, 'clientId'>, grantId: string) {
  const [grant] = (await consent.asAuthorization.listAppGrants({ clientId, grantId })).grants;
  if (grant === undefined) throw new Error('an answer without a grant');
  return grant;
}

/** The `sub` of a grant, which its app sees and its tokens' liveness checks return. */
async function subOf(app: RegisteredApp, { grantId }: { grantId: string }): Promise<string> {
  const { sub } = await appGrantOf(app, grantId);
  const { clientId, epoch: appEpoch } = app;
  const { grant } = await consent.checkLiveness({ clientId, appEpoch, grantId });
  expect(grant?.sub).toBe(sub);
  expect(sub).toMatch(SUB);
  return sub;
}

const list = async (app: RegisteredApp, filter: object = {}) =>
  (await consent.asAuthorization.listAppGrants({ clientId: app.clientId, ...filter })).grants;
const endByApp = ({ clientId }: RegisteredApp, id: string) =>
  consent.asAuthorization.revokeAppGrant({ clientId, id });

describe('the sub of a person', () => {
  test('stays the same in a joined grant, after a revocation and after an expiry', async () => {
    const app = await registerApp(consent);
    const first = await approve(consent, app, 'sub-returns');
    const sub = await subOf(app, first);
    expect(await subOf(app, await approve(consent, app, 'sub-returns'))).toBe(sub);
    await revoke(first.grantId, 'sub-returns');
    const second = await approve(consent, app, 'sub-returns');
    expect(second.grantId).not.toBe(first.grantId);
    expect(await subOf(app, second)).toBe(sub);
    await expire(second.grantId);
    const third = await approve(consent, app, 'sub-returns');
    expect(third.grantId).not.toBe(second.grantId);
    expect(await subOf(app, third)).toBe(sub);
  });

  test('is gone after an erasure: who returns gets another one', async () => {
    const app = await registerApp(consent);
    const sub = await subOf(app, await approve(consent, app, 'sub-erased'));
    await consent.asOperator.eraseUser({ userId: 'sub-erased' });
    expect(await list(app, { sub })).toEqual([]);
    expect(await subOf(app, await approve(consent, app, 'sub-erased'))).not.toBe(sub);
  });

  test('is one when a person approves two requests of an app at once, and those of two apps at once', async () => {
    const [one, two] = [await registerApp(consent), await registerApp(consent)];
    const session = await consent.session('sub-at-once');
    const pending = await Promise.all([one, one, two, two].map((app) => openPending(consent, app)));
    const approvals = await Promise.all(
      pending.map((id) => consent.asAuthorization.approve({ id, allRequested: true }, session)),
    );
    const subs = await Promise.all(
      approvals.map((approved, index) => subOf(index < 2 ? one : two, approved)),
    );
    expect([subs[0], subs[2]]).toEqual([subs[1], subs[3]]);
    expect(subs[0]).not.toBe(subs[2]);
  });

  test('finds exactly the grants of that person for that app', async () => {
    const [app, other] = [await registerApp(consent), await registerApp(consent)];
    const old = await approve(consent, app, 'sub-found');
    await revoke(old.grantId, 'sub-found');
    const live = await approve(consent, app, 'sub-found');
    const sub = await subOf(app, live);
    await approve(consent, app, 'sub-not-found');
    await approve(consent, other, 'sub-found');
    expect((await list(app, { sub })).map(({ id }) => id)).toEqual([live.grantId, old.grantId]);
    const active = await list(app, { sub, status: GrantStatus.ACTIVE });
    expect(active.map(({ id }) => id)).toEqual([live.grantId]);
    for (const unknown of [`sub_${'z'.repeat(22)}`, `sub_${'0'.repeat(22)}`, 'sub_', 'sub-found']) {
      expect(await list(app, { sub: unknown })).toEqual([]);
    }
    expect(await list(other, { sub })).toEqual([]);
  });
});

describe('the end of a grant', () => {
  test('is shown to its app with the time and who ended it', async () => {
    const app = await registerApp(consent);
    const [active, person, own, expired, developer] = await Promise.all(
      ['e1', 'e2', 'e3', 'e4', 'e5'].map((userId) =>
        approve(consent, app, userId, { dataFrom: '2026-01-01' }),
      ),
    );
    const byPerson = await revoke(person!.grantId, 'e2');
    const byApp = await endByApp(app, own!.grantId);
    await expire(expired!.grantId);
    expect(await appGrantOf(app, active!.grantId)).toMatchObject({ endedBy: '', dataFrom: '2026-01-01' });
    expect((await appGrantOf(app, active!.grantId)).endedAt).toBeUndefined();
    const { clientId } = app;
    const { statusChangedAt } = await consent.ledger.setAppStatus({ clientId, status: AppStatus.REVOKED });
    const { expiresAt } = await appGrantOf(app, expired!.grantId);
    expect(await appGrantOf(app, person!.grantId)).toMatchObject({
      endedBy: 'person',
      endedAt: byPerson.revokedAt,
    });
    expect(await appGrantOf(app, own!.grantId)).toMatchObject({ endedBy: 'app', endedAt: byApp.revokedAt });
    expect(await appGrantOf(app, expired!.grantId)).toMatchObject({ endedBy: 'expiry', endedAt: expiresAt });
    expect(await appGrantOf(app, developer!.grantId)).toMatchObject({
      endedBy: 'developer',
      endedAt: statusChangedAt,
    });
  });
});

describe('a grant that its app ends', () => {
  test('yields no data from the answer on, and its person sees who ended it, also on the receipt', async () => {
    const app = await registerApp(consent);
    const grant = await approve(consent, app, 'left');
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    const { revokedAt } = await endByApp(app, grant.grantId);
    expect(await record(consent, accessOf(grant))).toBe(Verdict.GRANT_REVOKED);
    expect(await getGrant(grant.grantId, 'left')).toMatchObject({
      status: GrantStatus.REVOKED,
      revokedBy: 'app',
      endedBy: 'app',
      revokedAt,
    });
    const { receipt } = await consent.as('left').getReceipt({ grantId: grant.grantId });
    expect(decodeJwt(receipt)['events']).toMatchObject([
      { event_state: 'given' },
      {
        event_state: 'ended by the app',
        event_type: 'implicit',
        event_time: new Date(timestampMs(revokedAt!)).toISOString(),
        validity_duration: 'PT0S',
      },
    ]);
  });

  test('or an operator, names that one on the receipt and to the app', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'helped');
    const { revokedAt } = await consent.grants.asOperator.endGrant({ grantId });
    expect(await appGrantOf(app, grantId)).toMatchObject({ endedBy: 'operator', endedAt: revokedAt });
    expect(await consent.grants.asOperator.endGrant({ grantId })).toMatchObject({ revokedAt });
    const { receipt } = await consent.as('helped').getReceipt({ grantId });
    expect(decodeJwt(receipt)['events']).toMatchObject([
      { event_state: 'given' },
      { event_state: 'ended by an operator of the service', event_type: 'implicit' },
    ]);
  });

  test('keeps its first end, whether the app or the person repeats it', async () => {
    const app = await registerApp(consent);
    const byApp = await approve(consent, app, 'first-app');
    const byPerson = await approve(consent, app, 'first-person');
    const ends = await Promise.all([1, 2, 3].map(() => endByApp(app, byApp.grantId)));
    const { revokedAt } = ends[0]!;
    for (const answer of ends) expect(answer.revokedAt).toEqual(revokedAt);
    expect((await revoke(byApp.grantId, 'first-app')).revokedAt).toEqual(revokedAt);
    expect(await appGrantOf(app, byApp.grantId)).toMatchObject({ endedBy: 'app' });
    const first = await revoke(byPerson.grantId, 'first-person');
    expect((await endByApp(app, byPerson.grantId)).revokedAt).toEqual(first.revokedAt);
    expect(await appGrantOf(app, byPerson.grantId)).toMatchObject({ endedBy: 'person' });
    expect(await getGrant(byPerson.grantId, 'first-person')).toMatchObject({ revokedBy: 'user' });
  });

  test('has one ender when both end it at the same moment', async () => {
    const app = await registerApp(consent);
    const { grantId } = await approve(consent, app, 'together');
    const [one, two] = await Promise.all([endByApp(app, grantId), revoke(grantId, 'together')]);
    expect(one.revokedAt).toEqual(two.revokedAt);
    const { endedBy, endedAt } = await appGrantOf(app, grantId);
    expect(['app', 'person']).toContain(endedBy);
    expect(endedAt).toEqual(one.revokedAt);
  });

  test('of another app, or unknown, is not found and changes nothing', async () => {
    const [app, other] = [await registerApp(consent), await registerApp(consent)];
    const { grantId } = await approve(consent, app, 'kept');
    for (const attempt of [
      endByApp(other, grantId),
      endByApp(app, newId('grt')),
      endByApp(app, 'nonsense'),
    ]) {
      await expect(attempt).rejects.toMatchObject({ reason: 'not_found' });
    }
    await expect(appGrantOf(other, grantId)).rejects.toMatchObject({ reason: 'not_found' });
    expect(await appGrantOf(app, grantId)).toMatchObject({ status: GrantStatus.ACTIVE });
  });
});

describe('a request for deletion', () => {
  let app: RegisteredApp;

  beforeAll(async () => {
    app = await registerApp(consent);
  });

  const request = (grantId: string, userId: string) => consent.as(userId).requestDeletion({ grantId });
  const eventsOf = async (grantId: string, userId: string) => {
    const { receipt } = await consent.as(userId).getReceipt({ grantId });
    return decodeJwt<{ events: Record<string, unknown>[] }>(receipt).events;
  };

  test('has the time of the first one, also when several arrive at once, and ends nothing', async () => {
    const grant = await approve(consent, app, 'asker');
    expect((await getGrant(grant.grantId, 'asker')).deletionRequestedAt).toBeUndefined();
    const answers = await Promise.all(Array.from({ length: 5 }, () => request(grant.grantId, 'asker')));
    const { deletionRequestedAt } = await request(grant.grantId, 'asker');
    expect(answers).toEqual(Array(5).fill(expect.objectContaining({ deletionRequestedAt })));
    expect(await getGrant(grant.grantId, 'asker')).toMatchObject({
      status: GrantStatus.ACTIVE,
      deletionRequestedAt,
    });
    expect(await record(consent, accessOf(grant))).toBe(Verdict.RELEASED);
    const states = (await eventsOf(grant.grantId, 'asker')).map(({ event_state }) => event_state);
    expect(states).toEqual(['given', 'deletion requested']);
  });

  test('can be made after the grant has ended, and is on the receipt after its end', async () => {
    const { grantId } = await approve(consent, app, 'late');
    // Expiry is an event of the receipt, but not a stored one.
    await consent.owner.query('UPDATE consent_grant SET expires_at = now() WHERE id = $1', [grantId]);
    const { deletionRequestedAt } = await request(grantId, 'late');
    const events = await eventsOf(grantId, 'late');
    expect(events.map(({ event_state }) => event_state)).toEqual(['given', 'expired', 'deletion requested']);
    expect(events.at(-1)).toEqual({
      event_time: timestampDate(deletionRequestedAt!).toISOString(),
      event_type: 'explicit',
      event_state: 'deletion requested',
      validity_duration: null,
      pii_types: [],
      pii_since: null,
    });
    expect((await getGrant(grantId, 'late')).status).toBe(GrantStatus.EXPIRED);
  });

  test('is visible to the app, without the person', async () => {
    const own = await registerApp(consent);
    const asked = await approve(consent, own, 'visible');
    await approve(consent, own, 'silent');
    const { deletionRequestedAt } = await request(asked.grantId, 'visible');
    const { grants } = await consent.asAuthorization.listAppGrants({ clientId: own.clientId });
    expect(grants.map((grant) => grant.deletionRequestedAt)).toEqual([undefined, deletionRequestedAt]);
    expect(
      JSON.stringify(grants, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain('visible');
  });

  test('for another person’s or an unknown grant is not found and changes nothing', async () => {
    const { grantId } = await approve(consent, app, 'owner');
    for (const id of [grantId, newId('grt'), 'x']) {
      await expect(request(id, 'nosy')).rejects.toMatchObject({ reason: 'not_found' });
    }
    expect((await getGrant(grantId, 'owner')).deletionRequestedAt).toBeUndefined();
  });
});
