import { beforeEach, describe, expect, test } from '@jest/globals';
import { readStatement } from '@phds/service-kit/postgres/sql';
import { eventually } from '@phds/test-kit/conditions';
import { expectAppDays } from './dated-records.ts';
import {
  accessOf,
  approve,
  MOOD,
  type RegisteredApp,
  record,
  registerApp,
  shareConsent,
} from './running-service.ts';

let app: RegisteredApp;
let today: string;

const consent = await shareConsent({ constants: { COUNT_INTERVAL_MS: 3_600_000, PRUNE_INTERVAL_MS: 50 } });

beforeEach(async () => {
  app = await registerApp(consent, 'developer');
  const rows = await consent.rows(`SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today`);
  today = rows[0].today;
});

const MOOD_PATH = '/api/v1/mood';

type Count = Partial<Record<'date' | 'endpoint' | 'clientId' | 'grantId', string>> &
  Partial<Record<'status' | 'count' | 'withoutKey', number>>;

const countOf = (count: Count = {}) => ({
  clientId: app.clientId,
  date: today,
  endpoint: MOOD_PATH,
  status: 429,
  count: 1,
  ...count,
});
const count = (...counts: Count[]) => consent.history.countRefusals({ refusals: counts.map(countOf) });
const usage = async (range: object = {}) =>
  (await consent.as('developer').getAppUsage({ clientId: app.clientId, ...range })).usage;

describe('refused requests that gateways counted', () => {
  test('are shown by day, endpoint and status, beside released ones', async () => {
    const grant = await approve(consent, app, 'user');
    await record(consent, { ...accessOf(grant), endpoint: MOOD_PATH });
    await count({ status: 429, count: 7 }, { status: 400, count: 2 }, { endpoint: '/api/*', status: 404 });
    expect(await usage()).toMatchObject([
      { date: today, endpoint: '/api/*', released: 0, refused: 1, refusals: [{ status: 404, count: 1 }] },
      {
        date: today,
        endpoint: MOOD_PATH,
        released: 1,
        refused: 9,
        refusals: [
          { status: 400, count: 2 },
          { status: 429, count: 7 },
        ],
      },
    ]);
    expect(await usage({ from: '2020-01-01', to: '2020-01-31' })).toEqual([]);
  });

  test('are shown to the owner of the app only, for a range of days that is one', async () => {
    const ask = (range: object, userId = 'developer') =>
      consent.as(userId).getAppUsage({ clientId: app.clientId, ...range });
    expect(await ask({ from: today, to: today })).toMatchObject({ usage: [] });
    await expect(ask({}, 'user')).rejects.toMatchObject({ reason: 'not_found' });
    for (const range of [
      { from: today },
      { from: '2026-02-02', to: '2026-02-01' },
      { from: '2020-01-01', to: today },
    ]) {
      await expect(ask(range)).rejects.toMatchObject({ reason: 'invalid_request' });
    }
  });

  test('include the refusals in the records, neither counted twice nor omitted', async () => {
    const grant = await approve(consent, app, 'user');
    const refused = { ...accessOf(grant), scope: MOOD, endpoint: MOOD_PATH };
    await record(consent, refused);
    await record(consent, refused);
    expect(await usage()).toMatchObject([{ endpoint: MOOD_PATH, released: 0, refused: 2, refusals: [] }]);
    await count({ status: 403, count: 2 });
    expect(await usage()).toMatchObject([{ refused: 2, refusals: [{ status: 403, count: 2 }] }]);
    await count({ status: 429, count: 1 });
    expect(await usage()).toMatchObject([{ refused: 3 }]);
  });

  test('are summed over gateways that report the same keys concurrently, in any order', async () => {
    const rows: Count[] = Array.from({ length: 50 }, (_, index) => ({ endpoint: `/api/v1/${index % 5}` }));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => count(...(index % 2 === 0 ? rows : rows.toReversed()))),
    );
    expect((await usage()).map(({ refused }) => refused)).toEqual([200, 200, 200, 200, 200]);
  });

  test('after the person stopped or narrowed are in the history of that person until the erasure, by day and app', async () => {
    const { grantId } = await approve(consent, app, 'stopper');
    const other = await registerApp(consent, 'developer');
    const narrowed = await approve(consent, other, 'stopper');
    const foreign = await approve(consent, app, 'somebody');
    const session = await consent.session('stopper');
    const daysOf = async (filter: object = {}) =>
      (await consent.history.listAccessDays(filter, session)).days.map(({ date, clientId, attempts }) => [
        date,
        clientId,
        attempts,
      ]);
    await record(consent, accessOf(narrowed));
    await consent.asGateway.revokeGrant({ id: grantId }, session);
    await count(
      { status: 403, grantId, count: 9 },
      { status: 403, grantId, count: 5, endpoint: '/api/v1/symptoms' },
      { status: 403, grantId: narrowed.grantId, clientId: other.clientId, count: 2 },
      { status: 403, grantId: foreign.grantId, count: 7 },
      { status: 403, grantId: 'grt_unknown' },
    );
    const stopped = [today, app.clientId, 14];
    expect((await daysOf()).toSorted()).toEqual([stopped, [today, other.clientId, 2]].toSorted());
    expect(await daysOf({ grantId })).toEqual([stopped]);
    expect(await daysOf({ clientId: app.clientId, from: today, to: today, timeZone: 'Asia/Tokyo' })).toEqual([
      stopped,
    ]);
    expect(await daysOf({ clientId: app.clientId, scope: MOOD })).toEqual([]);
    expect(await usage()).toMatchObject([{ refused: 1 + 9 + 7 }, { refused: 5 }]);
    await consent.asOperator.eraseUser({ userId: 'stopper' });
    expect(await consent.rows('SELECT count FROM refused_read')).toEqual([{ count: 7 }]);
  });

  test('of an app that does not exist are ignored', async () => {
    await count({ clientId: 'app_nobody' }, { count: 4 });
    expect(await usage()).toMatchObject([{ refused: 4 }]);
    const rows = await consent.rows(`SELECT FROM refused_request WHERE client_id = 'app_nobody'`);
    expect(rows).toEqual([]);
  });

  test('say how many had a token without its key, at most all of them', async () => {
    await count({ status: 401, count: 3, withoutKey: 2 });
    await count({ status: 401, count: 1, withoutKey: 5 }, { status: 400 });
    expect(await usage()).toMatchObject([{ refused: 5, withoutKey: 3 }]);
  });

  test('never exceed the maximum of their column', async () => {
    const most = { count: 0xffff_ffff, withoutKey: 0xffff_ffff };
    await count(most);
    await count(most);
    expect(await usage()).toMatchObject([{ refused: 0x7fff_ffff, withoutKey: 0x7fff_ffff }]);
  });

  test.each<[string, Count[]]>([
    ['a status that is no refusal', [{}, { status: 200 }]],
    ['a status that does not exist', [{}, { status: 600 }]],
    ['a count of none', [{}, { count: 0 }]],
    ['no day', [{}, { date: '' }]],
    ['a day that does not exist', [{}, { date: '2026-02-30' }]],
    ['no endpoint', [{}, { endpoint: '' }]],
    ['an endpoint beyond the longest', [{}, { endpoint: 'x'.repeat(513) }]],
    ['no app', [{}, { clientId: '' }]],
    ['no count', []],
    ['more than 500 counts', Array.from({ length: 501 }, () => ({}))],
  ])('with %s are refused whole', async (_, counts) => {
    await expect(count(...counts)).rejects.toMatchObject({ reason: 'invalid_request' });
    expect(await usage()).toEqual([]);
  });

  test('are deleted 400 days after their day', async () => {
    const dayBefore = (days: number) =>
      new Date(Date.parse(today) - days * 86_400_000).toISOString().slice(0, 10);
    await count({ date: dayBefore(402) }, { date: dayBefore(399) });
    const days = async () =>
      await consent.rows(
        `SELECT to_char(day, 'YYYY-MM-DD') AS day FROM refused_request WHERE client_id = $1`,
        app.clientId,
      );
    await eventually(async () => expect(await days()).toEqual([{ day: dayBefore(399) }]));
  });
});

const USERS = 3_000;
const DAYS = 3;

/** Counts a day of each user for each of the last days. */
const countUsers = () =>
  consent.owner.query(
    `WITH counted AS (
       INSERT INTO access_day (user_ref, grant_id, client_id, scope, endpoint, day, recorded, refused)
       SELECT gen_random_uuid(), '', $1, '', '/api/v1/mood', (now() AT TIME ZONE 'UTC')::date - ago, 2, 1
       FROM generate_series(1, $2) users, generate_series(0, $3) ago RETURNING *
     )
     INSERT INTO app_day SELECT client_id, day, endpoint, sum(recorded), sum(refused) FROM counted GROUP BY 1, 2, 3`,
    [app.clientId, USERS, DAYS - 1],
  );

interface PlanNode {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** The numbers of rows that a plan read of each table with counts. */
function rowsRead(node: PlanNode): Record<string, number> {
  const own = node['Relation Name'];
  const ofPlans = (node.Plans ?? []).map(rowsRead);
  const rows = node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0);
  return Object.assign({}, ...ofPlans, own?.endsWith('_day') === true ? { [own]: rows } : {});
}

describe('the days of an app', () => {
  test('the usage of an app reads as many rows as it shows, however many users the app has', async () => {
    await countUsers();
    await consent.owner.query('ANALYZE access_day, app_day');
    const { text } = readStatement(new URL('../src/store/sql/app-usage.sql', import.meta.url));
    for (const range of [
      [null, null],
      ['2020-01-01', '2099-12-31'],
    ]) {
      const explain = `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`;
      const { rows } = await consent.owner.query(explain, [app.clientId, ...range]);
      expect(rowsRead(rows[0]['QUERY PLAN'][0].Plan)).toEqual({ app_day: DAYS });
    }
    expect(await usage()).toMatchObject(Array(DAYS).fill({ released: USERS, refused: USERS }));
  });

  test('an erasure changes neither the counts of a person nor those of the app', async () => {
    await record(consent, accessOf(await approve(consent, app, 'erased')));
    await using _another = await consent.startAnother({ constants: { COUNT_INTERVAL_MS: 20 } });
    await eventually(async () => expect(await consent.rows('SELECT FROM access_uncounted')).toEqual([]));
    const before = await usage();
    await consent.asOperator.eraseUser({ userId: 'erased' });
    expect(await usage()).toEqual(before);
    await expectAppDays(consent.owner);
  });
});
