import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { eventually } from '@phds/test-kit/conditions';
import { letDaysPass } from '@phds/test-kit/passing-days';
import { shared } from '@phds/test-kit/shared';
import { openTestPool } from '@phds/test-kit/test-pool';
import type { ScannedGrants } from '../src/app/notice-ports.ts';
import { scanForNotices } from '../src/app/notice-scan.ts';
import type { NewNotice } from '../src/domain/notice.ts';
import { toEndingNotice, toUnusualNotice } from '../src/domain/scanned-grant.ts';
import { createPgNoticeScan } from '../src/store/pg-notice-scan.ts';
import { countLockWaits, openSmallPools } from './database-clients.ts';
import { approve, HEART, MOOD, openPending, registerApp, shareConsent } from './running-service.ts';

const consent = await shareConsent({ settings: { NOTICE_SCAN_INTERVAL_MS: '86400000' } });
const searcher = shared.use(await openNoticeSearcher(consent.database.url));
const app = await registerApp(consent);

/** The search for coming ends and unusual reading, run by a test in place of the service. */
interface NoticeSearcher extends AsyncDisposable {
  /** Searches all grants once, unless a search began less than this long ago. */
  search(intervalMs?: number): Promise<void>;
  /** Checks the next grants. `judge` can fail in place of the service. */
  scanNext(size: number, judge?: Judge): Promise<boolean>;
}

type Judge = (scanned: ScannedGrants) => readonly NewNotice[];

/** What the service finds. */
const judge: Judge = ({ now, ending, heavyDays }) =>
  [
    ...ending.map((grant) => toEndingNotice(grant, now)),
    ...heavyDays.map((heavy) => toUnusualNotice(heavy, now)),
  ].filter((notice) => notice !== null);

/** Opens connections of its own, like another instance of the service. */
async function openNoticeSearcher(databaseUrl: string): Promise<NoticeSearcher> {
  const pools = await openSmallPools(databaseUrl);
  const store = createPgNoticeScan({ ledger: pools.ordinary, records: pools.records.checks });
  return {
    search: (intervalMs = 0) => scanForNotices(store, intervalMs, new AbortController().signal),
    scanNext: (size, judging = judge) => store.scanNext({ intervalMs: 0, size }, judging),
    [Symbol.asyncDispose]: () => pools[Symbol.asyncDispose](),
  };
}

// The day of a grant's start and its age in whole days: the same day as long as a test runs, also when midnight passes.
const TODAY = `((granted_at AT TIME ZONE 'UTC')::date + round(extract(epoch FROM now() - granted_at) / 86400)::int)`;

/** Today for a grant that is whole days old, in UTC. */
async function todayOf(grantId: string): Promise<string> {
  const rows = await consent.rows(`SELECT ${TODAY}::text AS today FROM consent_grant WHERE id = $1`, grantId);
  return rows[0].today;
}

/** Adds counted reads of a grant to the UTC day so many days ago, `refused` of them refused. */
async function addReads(
  grantId: string,
  daysAgo: number,
  reads: { readonly recorded: number; readonly refused?: number; readonly endpoint?: string },
): Promise<void> {
  await consent.owner.query(
    `INSERT INTO access_day AS c (user_ref, grant_id, client_id, scope, endpoint, day, recorded, refused, last_at)
     SELECT user_ref, id, client_id, 'read:health-data:heart', $5, ${TODAY} - $2::int, $3, $4, now()
     FROM consent_grant WHERE id = $1
     ON CONFLICT (user_ref, grant_id, day, client_id, scope, endpoint)
       DO UPDATE SET recorded = c.recorded + excluded.recorded, refused = c.refused + excluded.refused`,
    [grantId, daysAgo, reads.recorded, reads.refused ?? 0, reads.endpoint ?? '/api/v1/health-data/heart'],
  );
}

const FOUND = ['connectionEnding', 'unusualReading'];

/** The notices about that person that a search made, oldest first. */
async function noticesOf(userId: string) {
  const feed = await consent.notices.listNotices({ limit: 500 });
  return feed.notices.filter((notice) => notice.userId === userId && FOUND.includes(notice.kind.case ?? ''));
}

describe('the search', () => {
  let other: NoticeSearcher;

  beforeAll(async () => {
    other = await openNoticeSearcher(consent.database.url);
  });
  afterAll(async () => {
    await other[Symbol.asyncDispose]();
  });

  test('by several instances at once makes one notice of each cause', async () => {
    const users = Array.from({ length: 12 }, (_, each) => `several-${each}`);
    for (const user of users) {
      const grantId = await grantOf(user, { age: 84 });
      await addReads(grantId, 0, { recorded: 500 });
    }
    await Promise.all([searcher, other, searcher, other].map((each) => each.search()));
    for (const user of users) {
      expect((await kindsOf(user)).toSorted()).toEqual(['connectionEnding', 'unusualReading']);
    }
  });

  test('goes on where it stopped after a crash, and keeps nothing of the part that was not finished', async () => {
    const users = ['crash-1', 'crash-2', 'crash-3'];
    for (const user of users) await grantOf(user, { age: 84 });
    const looked: string[] = [];
    while (
      await searcher
        .scanNext(1, (scanned) => {
          looked.push(...scanned.ending.map(({ userId }) => userId));
          if (looked.includes('crash-2')) throw new Error('crashed');
          return judge(scanned);
        })
        .catch(() => false)
    );
    expect(await kindsOf('crash-1')).toEqual(['connectionEnding']);
    expect(await kindsOf('crash-2')).toEqual([]);
    looked.length = 0;
    // Another instance, which does not begin again.
    while (
      await other.scanNext(1, (scanned) => {
        looked.push(...scanned.ending.map(({ userId }) => userId));
        return judge(scanned);
      })
    );
    expect(looked).toEqual(['crash-2', 'crash-3']);
    for (const user of users) expect(await kindsOf(user)).toEqual(['connectionEnding']);
  });

  test('begins again only after its interval, whichever instance searches', async () => {
    await searcher.search();
    await grantOf('interval', { age: 84 });
    await other.search(3_600_000);
    expect(await kindsOf('interval')).toEqual([]);
    await consent.owner.query(`UPDATE notice_scan SET started_at = now() - interval '1 hour'`);
    await other.search(3_600_000);
    expect(await kindsOf('interval')).toEqual(['connectionEnding']);
    await grantOf('set-back', { age: 84 });
    await consent.owner.query(`UPDATE notice_scan SET started_at = now() + interval '1 day'`);
    await searcher.search(3_600_000);
    expect(await kindsOf('set-back')).toEqual(['connectionEnding']);
  });

  test('leaves no notice of a person who is erased meanwhile', async () => {
    const grantId = await grantOf('erased-meanwhile', { age: 84 });
    const found = Promise.withResolvers<void>();
    const admin = openTestPool(consent.database.adminUrl, { max: 1 });
    const holder = await consent.owner.connect();
    try {
      // The erasure waits for this row, then the notice waits for the erasure.
      await holder.query('BEGIN');
      await holder.query('SELECT FROM consent_grant WHERE id = $1 FOR UPDATE', [grantId]);
      const erasing = consent.asOperator.eraseUser({ userId: 'erased-meanwhile' });
      await eventually(async () => expect(await countLockWaits(admin)).toBe(1));
      const searching = searcher.scanNext(1_000, (scanned) => {
        found.resolve();
        return judge(scanned);
      });
      await found.promise;
      await eventually(async () => expect(await countLockWaits(admin)).toBe(2));
      await holder.query('ROLLBACK');
      await Promise.all([erasing, searching]);
    } finally {
      holder.release();
      await admin.end();
    }
    expect(await consent.rows(`SELECT FROM notice WHERE user_id = 'erased-meanwhile'`)).toEqual([]);
  });

  test.each([
    ['with the service', 3, 3],
    ['after 100,000 grants, and leaves the others to the next run', Number.POSITIVE_INFINITY, 100],
  ])('ends %s', async (_, abortedAt, expected) => {
    const ending = new AbortController();
    let parts = 0;
    const store = {
      scanNext: () => {
        parts += 1;
        if (parts === abortedAt) ending.abort();
        return Promise.resolve(parts < 1_000);
      },
    };
    await scanForNotices(store, 0, ending.signal);
    expect(parts).toBe(expected);
  });

  test('reads by indexes alone', async () => {
    const client = await consent.owner.connect();
    try {
      for (const way of ['seqscan', 'bitmapscan', 'sort']) await client.query(`SET enable_${way} = off`);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT id FROM consent_grant WHERE (expires_at, id) > (now(), '') ORDER BY expires_at, id LIMIT 1000`,
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
        /^Limit.*\n +-> +Index (Only )?Scan using consent_grant_expires_at_id_idx/,
      );
    } finally {
      client.release(true);
    }
  });
});

const DAY_MS = 86_400_000;

const kindsOf = async (userId: string) => (await noticesOf(userId)).map(({ kind }) => kind.case);

/** A grant of that life in days, made some days ago. */
async function grantOf(userId: string, { days = 90, age = 0 } = {}): Promise<string> {
  const { grantId } = await approve(consent, app, userId, { requested: [HEART, MOOD], days });
  await letDaysPass(consent.database.adminUrl, grantId, age);
  return grantId;
}

describe('an end that is near', () => {
  test('is announced once, with what a mail needs', async () => {
    const grantId = await grantOf('ender', { age: 82 });
    await searcher.search();
    expect(await kindsOf('ender')).toEqual([]);
    await letDaysPass(consent.database.adminUrl, grantId, 1);
    for (let times = 0; times < 3; times += 1) await searcher.search();
    const { grant } = await consent.asGateway.getGrant({ id: grantId }, await consent.session('ender'));
    expect(await noticesOf('ender')).toMatchObject([
      {
        kind: {
          case: 'connectionEnding',
          value: {
            connection: {
              grantId,
              clientId: app.clientId,
              appName: 'Pulse Diary',
              terms: { scopes: grant?.scopes, expiresAt: grant?.expiresAt, dataFrom: '' },
            },
          },
        },
      },
    ]);
  });

  test('is announced anew when it was moved and comes near again', async () => {
    const grantId = await grantOf('mover', { age: 84 });
    await searcher.search();
    const id = await openPending(consent, app, [HEART]);
    const session = await consent.session('mover');
    await consent.asAuthorization.approve({ id, allRequested: true, expiresInDays: 30 }, session);
    await searcher.search();
    expect(await noticesOf('mover')).toHaveLength(1);
    await letDaysPass(consent.database.adminUrl, grantId, 24);
    await searcher.search();
    const ends = (await noticesOf('mover')).map(({ kind }) =>
      kind.case === 'connectionEnding' ? kind.value.connection?.terms?.expiresAt : undefined,
    );
    expect(ends).toHaveLength(2);
    expect(timestampDate(ends[1]!) > timestampDate(ends[0]!)).toBe(true);
  });

  test('is not announced when the person set it recently, by an approval or by narrowing', async () => {
    const [short, narrowed] = [await grantOf('short', { days: 1 }), await grantOf('narrower', { age: 50 })];
    const joined = await grantOf('joiner', { age: 50 });
    const id = await openPending(consent, app, [HEART]);
    await consent.asAuthorization.approve(
      { id, allRequested: true, expiresInDays: 1 },
      await consent.session('joiner'),
    );
    const expiresAt = timestampFromDate(new Date(Date.now() + 5 * DAY_MS));
    await consent.asGateway.narrowGrant({ id: narrowed, expiresAt }, await consent.session('narrower'));
    await searcher.search();
    expect([short, narrowed, joined]).toHaveLength(3);
    for (const user of ['short', 'narrower', 'joiner']) expect(await kindsOf(user)).toEqual([]);
  });

  test('is not announced of a connection that has ended already', async () => {
    const revoked = await grantOf('revoker', { age: 84 });
    await consent.asGateway.revokeGrant({ id: revoked }, await consent.session('revoker'));
    await grantOf('expired', { age: 91 });
    const doomed = await registerApp(consent);
    const { grantId } = await approve(consent, doomed, 'of-revoked-app');
    await letDaysPass(consent.database.adminUrl, grantId, 84);
    await consent.ledger.setAppStatus({ clientId: doomed.clientId, status: AppStatus.REVOKED });
    await searcher.search();
    for (const user of ['revoker', 'expired', 'of-revoked-app']) expect(await kindsOf(user)).toEqual([]);
  });
});

describe('unusual reading', () => {
  test('is announced once for its day, with the counts of the answers that the app got', async () => {
    const grantId = await grantOf('unusual', { age: 30 });
    for (let day = 1; day <= 28; day += 1) await addReads(grantId, day, { recorded: 10 });
    // Before the 28 days.
    await addReads(grantId, 29, { recorded: 100_000 });
    await addReads(grantId, 0, { recorded: 60 });
    await addReads(grantId, 0, { recorded: 60, endpoint: '/api/v1/trends' });
    for (let times = 0; times < 3; times += 1) await searcher.search();
    await addReads(grantId, 0, { recorded: 1_000 });
    await searcher.search();
    const today = await todayOf(grantId);
    expect(await noticesOf('unusual')).toMatchObject([
      {
        id: `unusual:${grantId}:${today}`,
        kind: {
          case: 'unusualReading',
          value: {
            connection: { grantId, clientId: app.clientId },
            day: today,
            reads: 120,
            usualReadsPerDay: 10,
          },
        },
      },
    ]);
  });

  test('compares with the days since the connection began, if it is younger', async () => {
    const [younger, week] = [await grantOf('six-days', { age: 6 }), await grantOf('a-week', { age: 7 })];
    for (const grantId of [younger, week]) await addReads(grantId, 0, { recorded: 500 });
    const busy = await grantOf('busy-week', { age: 7 });
    for (let day = 1; day <= 7; day += 1) await addReads(busy, day, { recorded: 100 });
    await addReads(busy, 0, { recorded: 500 });
    await searcher.search();
    expect(await kindsOf('six-days')).toEqual([]);
    expect(await kindsOf('a-week')).toEqual(['unusualReading']);
    expect(await kindsOf('busy-week')).toEqual([]);
  });

  test('of refused requests is not reading', async () => {
    const grantId = await grantOf('refused', { age: 30 });
    await addReads(grantId, 0, { recorded: 1_000, refused: 950 });
    await searcher.search();
    expect(await kindsOf('refused')).toEqual([]);
  });

  test('at the end of yesterday is announced today, also of a connection that ended since', async () => {
    const grantId = await grantOf('yesterday', { age: 30 });
    await addReads(grantId, 1, { recorded: 500 });
    await consent.asGateway.revokeGrant({ id: grantId }, await consent.session('yesterday'));
    await searcher.search();
    expect(await kindsOf('yesterday')).toEqual(['unusualReading']);
    await letDaysPass(consent.database.adminUrl, grantId, 1);
    await addReads(await grantOf('long-ago', { age: 30 }), 2, { recorded: 500 });
    await searcher.search();
    expect(await kindsOf('yesterday')).toEqual(['unusualReading']);
    expect(await kindsOf('long-ago')).toEqual([]);
  });
});
