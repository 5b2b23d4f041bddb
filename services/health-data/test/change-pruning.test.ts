import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openTestPool } from '@phds/test-kit/test-pool';
import type pg from 'pg';
import { createPgChangePruning } from '../src/store/pg-change-pruning.ts';
import { type Harness, startHarness } from './harness.ts';
import { askChanges, daysOf, heart } from './sync-asks.ts';

let harness: Harness;
let owner: pg.Pool;
beforeAll(async () => {
  harness = await startHarness();
  const { ownerUrl, schema } = harness.database;
  owner = openTestPool(ownerUrl, { options: `-c search_path=${schema}` });
});
afterAll(async () => {
  await owner.end();
  await harness[Symbol.asyncDispose]();
});

/** Five readings, one in each change; the first three changes are from a year before. */
async function store(userId: string): Promise<void> {
  for (const day of [1, 2, 3, 4, 5]) await harness.putReadings(userId, [heart(day)]);
  await owner.query(
    "UPDATE reading_change SET reported = true, at = at - interval '1 year' * (number < 4)::int WHERE user_id = $1",
    [userId],
  );
}

/** Forgets what is older than half a year, one change at a time. */
async function prune(): Promise<number> {
  const pruning = createPgChangePruning(owner);
  const before = new Date(Date.now() - 183 * 86_400_000);
  let steps = 0;
  for (let after: string | null = ''; after !== null; steps += 1)
    after = await pruning.prune(after, before, 1);
  return steps;
}

const numbersOf = async (userId: string) => {
  const { rows } = await owner.query('SELECT number::int FROM reading_change WHERE user_id = $1 ORDER BY 1', [
    userId,
  ]);
  return rows.map(({ number }) => number);
};

test('old changes are forgotten in steps, except the latest of each person and unreported ones', async () => {
  for (const userId of ['person-1', 'person-2', 'waiting', 'quiet']) await store(userId);
  await owner.query("UPDATE reading_change SET reported = false WHERE user_id = 'waiting' AND number = 2");
  await owner.query("DELETE FROM reading_change WHERE user_id = 'quiet' AND number > 3");
  const [steps, again] = [await prune(), await prune()];
  expect(await Promise.all(['person-1', 'person-2', 'waiting', 'quiet'].map(numbersOf))).toEqual([
    [3, 4, 5],
    [3, 4, 5],
    [2, 3, 4, 5],
    [3],
  ]);
  // Two of each person, one of the one who waits, and the end.
  expect([steps - again, again]).toEqual([7, 2]);
});

test('a reader who is in the middle or at the end goes on, and one who begins gets everything', async () => {
  await store('reader');
  const middle = await askChanges(harness, 'reader', { pageSize: 1 });
  const end = await askChanges(harness, 'reader');
  await prune();
  const next = await askChanges(harness, 'reader', { pageSize: 1, since: middle.sync.cursor });
  expect(daysOf(next)).toEqual([2]);
  expect(daysOf(await askChanges(harness, 'reader', { since: next.sync.cursor }))).toEqual([3, 4, 5]);
  expect(daysOf(await askChanges(harness, 'reader', { since: end.sync.cursor }))).toEqual([]);
  const { data, sync } = await askChanges(harness, 'reader');
  expect([data.length, data[0].updatedAt, sync.lastDataAt]).toEqual([
    5,
    '1970-01-01T00:00:00.000Z',
    end.sync.lastDataAt,
  ]);
});
