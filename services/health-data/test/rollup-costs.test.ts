import { expect, test } from '@jest/globals';
import type pg from 'pg';
import { type RollupHarness, row, startRollupHarness } from './rollup-harness.ts';

const READINGS = 100_000;

/** The work of a write: index entries followed, and rows read by sequential scans. */
async function touchedBy(pool: pg.Pool, write: () => Promise<unknown>) {
  const before = await readTouched(pool);
  await write();
  const after = await readTouched(pool);
  return { entries: after.entries - before.entries, scanned: after.scanned - before.scanned };
}

async function readTouched(pool: pg.Pool): Promise<{ entries: number; scanned: number }> {
  // The statistics of the connection that wrote; the pool has only one.
  await pool.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await pool.query(`
    SELECT (SELECT sum(idx_tup_read)::int FROM pg_stat_user_indexes) AS entries,
      (SELECT sum(seq_tup_read)::int FROM pg_stat_user_tables) AS scanned`);
  return rows[0];
}

/** Heart rates of each minute, for several weeks. */
async function fill({ pool, rollups }: RollupHarness, userId: string): Promise<void> {
  await pool.query(
    `INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
     SELECT $1, gen_random_uuid(), 'heart-rate', 'heart', at, at, 60, 'iphone'
     FROM generate_series(1, $2::int) AS n, LATERAL (SELECT '2025-01-01'::timestamptz + n * interval '1 minute' AS at) AS t`,
    [userId, READINGS],
  );
  await rollups.rebuild(userId, new AbortController().signal);
}

test('the cost of a late, changed or deleted reading does not grow with the number of readings', async () => {
  await using harness = await startRollupHarness(1);
  const { pool } = harness;
  for (const userId of ['many', 'others']) await fill(harness, userId);
  const late = row('heart-rate', '2025-02-11T10:20:30Z', 70);
  const writes = [
    () => harness.put('many', [late]),
    () => harness.put('many', [{ ...late, value: 71 }]),
    () => harness.remove('many', [late]),
    () => harness.put('many', [row('steps', '2025-02-11T22:00:00Z', 70)]),
    () => harness.put('many', [row('sleep', '2025-02-11T22:00:00Z', 70, { end: '2025-02-12T06:00:00Z' })]),
  ];
  for (const write of writes) {
    const { entries, scanned } = await touchedBy(pool, write);
    expect(scanned).toBe(0);
    // The minutes of the hour, the hours of the day, the days of the month, the months of the year.
    expect(entries).toBeLessThan(500);
    expect(entries).toBeGreaterThan(0);
  }
});
