import { expect, test } from '@jest/globals';
import { AppError } from '@phds/service-kit/errors';
import { eventually } from '@phds/test-kit/conditions';
import { createChangeOutbox } from '../src/change-reports.ts';
import { row, shareWritingHarness } from './writing-harness.ts';

const harness = await shareWritingHarness();

const heart = (minute: number, value = 60) =>
  row('heart-rate', new Date(Date.UTC(2025, 5, 1, 0, minute)).toISOString(), value);
const steps = row('steps', '2025-06-01T08:00:00Z', 500);

async function listChanges(userId: string) {
  const { rows } = await harness.pool.query(
    'SELECT number::int, at, categories FROM reading_change WHERE user_id = $1 ORDER BY number',
    [userId],
  );
  return rows as { number: number; at: Date; categories: string[] }[];
}

/** The number of each reading's latest change, by minute; of deleted readings in a list of their own. */
async function listNumbers(userId: string) {
  const of = async (table: string) => {
    const { rows } = await harness.pool.query(
      `SELECT extract(minute FROM start_at)::int AS minute, change_number::int AS number FROM ${table}
       WHERE user_id = $1 ORDER BY start_at`,
      [userId],
    );
    return rows.map(({ minute, number }) => [minute, number]);
  };
  return { stored: await of('reading'), deleted: await of('deleted_reading') };
}

test('each transaction that changes readings gets the next number, with the categories that it changed', async () => {
  await harness.put('numbered', [heart(0), heart(1), steps]);
  await harness.put('numbered', [heart(1, 61), heart(2)]);
  expect(await harness.remove('numbered', [heart(0)])).toBe(1);
  const changes = await listChanges('numbered');
  expect(changes.map(({ number, categories }) => [number, categories])).toEqual([
    [1, ['activity', 'heart']],
    [2, ['heart']],
    [3, ['heart']],
  ]);
  expect(await listNumbers('numbered')).toEqual({
    stored: [
      [1, 2],
      [2, 2],
      [0, 1],
    ],
    deleted: [[0, 3]],
  });
});

test('writes at the same time get different numbers without gaps, and their times never decrease', async () => {
  const writes = Array.from(
    { length: 20 },
    (_, index) => () =>
      index % 4 === 3
        ? harness.remove('busy', [heart(index - 1)])
        : harness.put('busy', [heart(index), heart(100, index)]),
  );
  await Promise.all(writes.map((write) => write()));
  const changes = await listChanges('busy');
  expect(changes.map(({ number }) => number)).toEqual(changes.map((_, index) => index + 1));
  expect(changes.length).toBeGreaterThanOrEqual(15);
  const times = changes.map(({ at }) => at.getTime());
  expect(times).toEqual(times.toSorted((a, b) => a - b));
});

test('a write that waits for another one gets its number after it, and so commits in the order of numbers', async () => {
  await harness.put('waiting', [heart(0)]);
  const other = await harness.pool.connect();
  try {
    await other.query('BEGIN');
    await other.query("SELECT pg_advisory_xact_lock(hashtextextended('health-data waiting', 0))");
    const waiting = harness.put('waiting', [heart(1)]);
    await eventually(async () => {
      const { rows } = await other.query(
        "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
      );
      expect(rows).toEqual([{ count: 1 }]);
    });
    await other.query("INSERT INTO reading_change VALUES ('waiting', 2, '2100-01-01', '{heart}')");
    await other.query('COMMIT');
    await waiting;
  } finally {
    other.release();
  }
  const changes = await listChanges('waiting');
  expect(changes.map(({ number }) => number)).toEqual([1, 2, 3]);
  expect(changes.at(-1)?.at).toEqual(new Date('2100-01-01'));
});

const outbox = createChangeOutbox(harness.pool, harness.database);

async function takeNext(limit: number): Promise<string[]> {
  const told: string[] = [];
  const report = async (changes: readonly { userId: string }[]) => {
    told.push(...changes.map(({ userId }) => userId).sort());
  };
  await outbox.reportNext(limit, report, () => undefined);
  return told;
}

test('changes are reported by one instance at a time, and again after a failure, without those that consent has accepted or refused', async () => {
  await takeNext(500);
  // Changes of one millisecond are reported in the order of their people.
  for (const userId of ['1 accepted', '2 refused', '3 failed']) await harness.put(userId, [heart(0)]);
  const [others, refused]: [string[][], string[]] = [[], []];
  const report = async (changes: readonly { userId: string }[]) => {
    others.push(await takeNext(9));
    if (changes.length > 1 || changes[0]?.userId === '2 refused') throw new AppError('invalid_request');
    if (changes[0]?.userId === '3 failed') throw new AppError('unavailable');
  };
  const reporting = outbox.reportNext(9, report, ({ number }) => refused.push(number));
  await expect(reporting).rejects.toMatchObject({ reason: 'unavailable' });
  expect([others, refused.length]).toEqual([[[], [], [], []], 1]);
  expect(await takeNext(9)).toEqual(['3 failed']);
});

test('changes are reported the oldest first, and one of each person before the second of any', async () => {
  await takeNext(500);
  for (const minute of [0, 1, 2]) await harness.put('z-busy', [heart(minute)]);
  await harness.put('a-late', [heart(0)]);
  const taken = [await takeNext(1), await takeNext(2), await takeNext(9)];
  expect(taken).toEqual([['z-busy'], ['a-late', 'z-busy'], ['z-busy']]);
});
