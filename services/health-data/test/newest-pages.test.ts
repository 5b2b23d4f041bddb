import { afterEach, describe, expect, test } from '@jest/globals';
import { isCategory } from '@phds/catalog/categories';
import { ANY_TIME } from '@phds/catalog/fhir/dates';
import { translateDatabaseError } from '@phds/service-kit/postgres/errors';
import { eventually } from '@phds/test-kit/conditions';
import { capture } from '@phds/test-kit/plans';
import { shared } from '@phds/test-kit/shared';
import pg from 'pg';
import type { Page } from '../src/document.ts';
import { createReadingSpans } from '../src/fhir/reading-spans.ts';
import { createProfiles } from '../src/profiles.ts';
import { createReadings, type Reading, type ReadingQuery } from '../src/readings.ts';
import { fillPeople, PEOPLE, ZONE } from './people.ts';
import { shareStorePool } from './store-pool.ts';

const LONG_MS = 60_000;
/** Two statements of newest pages, and one connection for everything else. */
const POOL_SIZE = 3;

const { pool, database, admin } = await shareStorePool('newest-pages', POOL_SIZE, LONG_MS);
const readings = createReadings(pool, undefined, database);
const spans = createReadingSpans(pool);
/** Holds locks. */
const locker = new pg.Client({ connectionString: database.adminUrl });
await locker.connect();
await locker.query(`SET search_path = ${database.schema}`);
await fillPeople(admin, 60);
shared.defer(() => locker.end());
afterEach(() => locker.query('ROLLBACK'));

const [USER] = PEOPLE;

function toQuery(changes: Partial<ReadingQuery> = {}): ReadingQuery {
  const range = { from: null, to: null };
  return { userId: USER, category: 'heart', metric: null, range, limit: 20, offset: 0, ...changes };
}

const list = (changes: Partial<ReadingQuery>) => readings.list(toQuery(changes));

const lockReadings = () => locker.query('BEGIN; LOCK TABLE reading IN ACCESS EXCLUSIVE MODE');

/** The statements that wait for the lock. */
async function countBlocked(): Promise<number> {
  const { rows } = await admin.query<{ count: number }>(`
    SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'newest-pages' AND wait_event_type = 'Lock'`);
  return rows[0]?.count ?? 0;
}

/** Waits until this many statements are blocked. */
const blocked = (count: number) => eventually(async () => expect(await countBlocked()).toBe(count));

const DIFFERENT: Partial<ReadingQuery>[] = [
  {},
  { userId: PEOPLE[1], limit: 1 },
  { userId: PEOPLE[2], limit: 100 },
  { category: 'activity' },
  { category: 'sleep', limit: 3 },
  { userId: 'nobody' },
  { userId: 'quotes " and {braces}, \\ and \'s' },
  { metric: 'ecg' },
  { userId: PEOPLE[1], metric: 'heart-rate', limit: 100 },
  { userId: 'nobody', metric: 'hrv' },
  { offset: 20 },
  { userId: PEOPLE[2], offset: 100, limit: 100 },
  { metric: 'heart-rate', offset: 180 },
  { userId: PEOPLE[2], category: 'body-composition', offset: 150 },
];

/** As the rpc answers it. */
const outcomeOf = (result: PromiseSettledResult<unknown>) =>
  result.status === 'rejected' ? translateDatabaseError(result.reason).reason : result.status;

test('newest searches together equal those that have a statement of their own, and use one statement for each index', async () => {
  const when = ANY_TIME;
  const since = { ...ANY_TIME, startFrom: Date.parse('2023-02-28T12:00:00Z') };
  const queries = (
    [
      [USER, 'heart', 51, when],
      [PEOPLE[1], 'activity', 1, when],
      [USER, 'sleep', 202, when],
      [USER, 'heart', 101, since],
      ['nobody', 'heart', 51, when],
      [USER, 'heart-rate', 51, when],
      [USER, 'ecg', 51, since],
    ] as const
  ).map(([userId, key, limit, when]) => {
    const subjects = [{ key, avoidedSource: null }];
    const by = isCategory(key) ? ('category' as const) : ('type' as const);
    return { userId, by, subjects, starts: null, when, limit };
  });
  const apart = createReadingSpans(pool, undefined, { distributed: true });
  const alone = await Promise.all(queries.map(apart.listNewest));
  let together: unknown;
  const asked = await capture(async () => {
    together = await Promise.all(queries.map(spans.listNewest));
  });
  expect(together).toEqual(alone);
  expect(asked).toHaveLength(2);
  expect(alone.map(({ length }) => length)).toEqual([51, 1, 202, 101, 0, 51, 2]);
});

describe('newest pages that are read together', () => {
  test('equal those that are read alone and the pages of the list with a lower bound, and use one statement for each index', async () => {
    const alone: Page<Reading>[] = [];
    for (const changes of DIFFERENT) alone.push(await list(changes));
    let together: unknown;
    const asked = await capture(async () => {
      together = await Promise.all(DIFFERENT.map(list));
    });
    expect(asked).toHaveLength(2);
    expect(together).toEqual(alone);
    const bounded = { from: new Date(0), to: null };
    expect(alone).toEqual(await Promise.all(DIFFERENT.map((one) => list({ ...one, range: bounded }))));
    expect(alone.map(({ items }) => items.length)).toEqual([
      20, 1, 100, 20, 3, 0, 0, 20, 100, 0, 20, 99, 20, 0,
    ]);
  });

  test('all fail as unavailable when the connection of their statement is lost, and the next ones succeed', async () => {
    await lockReadings();
    const results = Promise.allSettled([list({}), list({ userId: PEOPLE[1] })]);
    await blocked(1);
    await admin.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'newest-pages'
       AND datname = current_database() AND wait_event_type = 'Lock'`,
    );
    expect((await results).map(outcomeOf)).toEqual(['unavailable', 'unavailable']);
    await locker.query('ROLLBACK');
    expect((await list({})).items).toHaveLength(20);
  });
});

const HEART = { key: 'heart', avoidedSource: null } as const;
const searchHeart = () =>
  spans.listNewest({
    userId: USER,
    by: 'category',
    subjects: [HEART],
    starts: null,
    when: ANY_TIME,
    limit: 51,
  });

test.each<[string, () => Promise<unknown>]>([
  ['pages', () => list({})],
  ['searches', searchHeart],
])(
  'newest %s go on beside one slow statement, and leave connections to other work, however many wait',
  async (_, read) => {
    await lockReadings();
    const results: Promise<unknown>[] = [];
    for (let i = 0; i < 4; i += 1) {
      results.push(read());
      await new Promise((resolve) => setImmediate(resolve));
    }
    await blocked(2);
    expect(await createProfiles(pool).findTimeZone(USER)).toBe(ZONE);
    await locker.query('ROLLBACK');
    await Promise.all(results);
  },
);
