import { beforeAll, describe, expect, test } from '@jest/globals';
import { METRICS } from '@phds/catalog/metrics';
import type { RollupStore } from '../src/app/ports.ts';
import { startRollupRebuilds } from '../src/app/rollup-rebuilds.ts';
import { createPgSummaries } from '../src/store/pg-summaries.ts';
import { createPgUserEraser } from '../src/store/pg-user-eraser.ts';
import { createPgWeights } from '../src/store/pg-weights.ts';
import { PATIENT_SCANS } from './patient-scans.ts';
import { row, shareRollupHarness } from './rollup-harness.ts';

const intervalMs = 3_600_000;
const silent = { info: () => undefined };
const ignored = () => () => undefined;

const harness = await shareRollupHarness();

describe('a rebuild', () => {
  const signal = new AbortController().signal;
  const heart = (minute: number) =>
    row('heart-rate', `2025-06-01T22:${String(minute).padStart(2, '0')}:00Z`, 60 + minute);

  /** Makes the user look like one with too many readings for an immediate rebuild. */
  const pretendMany = (userId: string) => setTotal(userId, 1_000_000);
  const setTotal = (userId: string, count: number) =>
    harness.pool.query("UPDATE reading_count SET count = $2 WHERE user_id = $1 AND span = 'all'", [
      userId,
      count,
    ]);
  const isValid = async (userId: string) => !(await findStale()).includes(userId);
  const findStale = async () => (await harness.rollups.findStale('', 1_000_000)).userIds;

  test('for another zone is done by the write itself, and never twice', async () => {
    await harness.put('zone', [heart(0)]);
    await harness.pool.query("UPDATE rollup_state SET time_zone = 'Asia/Kathmandu' WHERE user_id = 'zone'");
    await harness.pool.query("DELETE FROM hour_rollup WHERE user_id = 'zone'");
    expect(await isValid('zone')).toBe(false);
    await harness.put('zone', [heart(1)]);
    await harness.expectKept('zone');
    expect(await isValid('zone')).toBe(true);
    expect(await harness.rollups.rebuild('zone', signal)).toBe(false);
  });

  test('of very many readings is left to the background, and existing rollups are not used', async () => {
    harness.deferred.length = 0;
    await harness.put('many', [heart(0)]);
    await pretendMany('many');
    await harness.profiles.put('many', { timeZone: 'Asia/Kathmandu' });
    await harness.put('many', [heart(1)]);
    expect(harness.deferred).toEqual(['many', 'many']);
    // The rollups of this zone do not include the second reading.
    await setTotal('many', 1_000_000);
    await harness.profiles.put('many', { timeZone: 'UTC' });
    expect(await isValid('many')).toBe(false);
    await setTotal('many', 2);
    expect(await harness.rollups.rebuild('many', signal)).toBe(true);
    await harness.expectKept('many');
  });

  test('reaches every user who needs it when the service starts, and those requested later', async () => {
    const users = ['stale-1', 'stale-2', 'stale-3', 'fresh'];
    for (const userId of users) await harness.put(userId, [heart(0), heart(1)]);
    await harness.invalidate('stale-1');
    await harness.pool.query("UPDATE rollup_state SET time_zone = '' WHERE user_id = 'stale-2'");
    await harness.pool.query(
      "UPDATE rollup_state SET time_zone = 'Asia/Kathmandu' WHERE user_id = 'stale-3'",
    );
    await harness.pool.query("DELETE FROM hour_rollup WHERE user_id LIKE 'stale-%'");
    expect(await findStale()).toEqual(['stale-1', 'stale-2', 'stale-3']);
    const checked = Promise.withResolvers<object>();
    await using rebuilds = startRollupRebuilds({
      intervalMs,
      rollups: harness.rollups,
      log: { info: checked.resolve },
      failureOf: ignored,
    });
    expect(await checked.promise).toEqual({ rebuilt: 3 });
    for (const userId of users) await harness.expectKept(userId);
    expect(await findStale()).toEqual([]);

    await harness.invalidate('stale-1');
    const rebuilt = Promise.withResolvers<void>();
    const watched: RollupStore = {
      findStale: harness.rollups.findStale,
      rebuild: async (userId, aborted) => {
        const made = await harness.rollups.rebuild(userId, aborted);
        rebuilt.resolve();
        return made;
      },
    };
    await using later = startRollupRebuilds({
      intervalMs,
      rollups: watched,
      log: silent,
      failureOf: ignored,
    });
    later.request('stale-1');
    rebuilds.request('stale-1');
    await rebuilt.promise;
    expect(await isValid('stale-1')).toBe(true);
  });

  test('that fails for one user does not prevent those of others', async () => {
    for (const userId of ['broken-1', 'broken-2']) await harness.put(userId, [heart(0)]);
    await harness.invalidate('broken-2');
    await harness.pool.query("INSERT INTO profile (user_id, time_zone) VALUES ('broken-1', 'Mars/Olympus')");
    const failed: string[] = [];
    const checked = Promise.withResolvers<object>();
    const log = { info: checked.resolve };
    const failureOf = (task: string) => () => void failed.push(task);
    await using _rebuilds = startRollupRebuilds({ intervalMs, rollups: harness.rollups, log, failureOf });
    expect(await checked.promise).toEqual({ rebuilt: 1 });
    expect(failed).toEqual(['rebuilding the rollups of a user']);
    await harness.pool.query("DELETE FROM profile WHERE user_id = 'broken-1'");
  });

  test('restores nothing of an erased person', async () => {
    await harness.put('erased', [heart(0)]);
    await createPgUserEraser(harness.pool).erase('erased');
    await harness.rollups.rebuild('erased', signal);
    await harness.remove('erased', [heart(0)]);
    const { rowCount } = await harness.pool.query("SELECT FROM rollup_state WHERE user_id = 'erased'");
    expect(rowCount).toBe(0);
  });
});

describe('the tables derived from readings', () => {
  test('are correct under concurrent importers, deletions and moves of zone', async () => {
    const minutes = Array.from({ length: 600 }, (_, n) =>
      new Date(Date.UTC(2025, 9, 25, 20, n)).toISOString(),
    );
    const batch = minutes.map((start, n) => row('heart-rate', start, 40 + (n % 100)));
    const steps = minutes.map((start, n) =>
      row('steps', start, n % 7, { source: n % 2 === 0 ? 'iphone' : 'apple-watch' }),
    );
    // From here on rollups are maintained, not built.
    await harness.put('at-once', [row('weight', '2025-10-25T20:00:00Z', 80)]);
    await Promise.all([
      ...Array.from({ length: 20 }, (_, n) =>
        harness.put('at-once', n % 2 === 0 ? [...batch, ...steps] : [...steps, ...batch].toReversed()),
      ),
      ...Array.from({ length: 5 }, (_, n) => harness.remove('at-once', batch.slice(n * 50, n * 50 + 100))),
      harness.profiles.put('at-once', { timeZone: 'Europe/Berlin' }),
    ]);
    await harness.expectKept('at-once', 'Europe/Berlin');
  });
});

test('a zone that Postgres does not know is refused and changes nothing', async () => {
  await harness.profiles.put('martian', { timeZone: 'Europe/Berlin' });
  await expect(
    harness.profiles.put('martian', { name: 'Ada', timeZone: 'Mars/Olympus' }),
  ).rejects.toMatchObject({
    reason: 'invalid_request',
    violations: [{ parameter: 'timeZone', message: 'must be a time zone that the database knows' }],
  });
  const { rows } = await harness.pool.query("SELECT name, time_zone FROM profile WHERE user_id = 'martian'");
  expect(rows).toEqual([{ name: null, time_zone: 'Europe/Berlin' }]);
});

describe('responses from readings', () => {
  const USER = 'weighed';
  const query = {
    askedBy: 'app_reads',
    userId: USER,
    metrics: METRICS.map(({ key }) => key),
    timeZone: 'UTC',
    range: { from: null, to: null },
    since: null,
  };

  beforeAll(async () => {
    const hours = Array.from({ length: 1_500 }, (_, n) => new Date(Date.UTC(2025, 2, 27, n)).toISOString());
    await harness.put(
      USER,
      hours.flatMap((at, n) => [row('steps', at, n), ...(n % 7 === 0 ? [row('weight', at, 70 + n)] : [])]),
    );
  });

  test('have a time limit of their own, those from rollups have that of the pool', async () => {
    const summaries = createPgSummaries(harness.pool, { ...PATIENT_SCANS, statementTimeoutMs: 1 });
    const fromReadings = summaries.summarise({ ...query, timeZone: 'Asia/Kolkata' });
    await expect(fromReadings).rejects.toMatchObject({ reason: 'unavailable' });
    expect(await summaries.summarise(query)).not.toEqual([]);
  });

  test('equal those from rollups, which are not used while they are invalid', async () => {
    const summaries = createPgSummaries(harness.pool, PATIENT_SCANS);
    const weights = createPgWeights(harness.pool);
    const answer = () =>
      Promise.all([
        summaries.summarise(query),
        ...(['day', 'hour'] as const).map((bucket) =>
          summaries.trend({ ...query, bucket, limit: 9, offset: 13 }),
        ),
        ...[0, 2, 5, 500].map((offset) =>
          weights.list({ ...query, dates: { from: null, to: null }, limit: 3, offset }),
        ),
      ]);
    const fromRollups = await answer();
    await harness.invalidate(USER);
    expect(await answer()).toEqual(fromRollups);
  });
});
