import { expect } from '@jest/globals';
import { getMetric, type MetricKey } from '@phds/catalog/metrics';
import type pg from 'pg';
import type { ReadingWindow } from '../src/app/ports.ts';
import { toReadingId } from '../src/app/row-ids.ts';
import type { ImportKey } from '../src/domain/import-progress.ts';
import { createPgProfileWriter } from '../src/store/pg-profile-writer.ts';
import { createPgReadingWriter } from '../src/store/pg-reading-writer.ts';
import { createPgRollupStore } from '../src/store/pg-rollup-store.ts';
import { computeKept, type ReadingRow } from './rollup-reference.ts';
import { shareStorePool } from './store-pool.ts';

/** The stores that write readings and derived tables, on a database of their own, for all tests of the file. */
export async function shareRollupHarness(poolSize = 8) {
  const { database, pool } = await shareStorePool('rollups', poolSize);
  const deferred: string[] = [];
  const readings = createPgReadingWriter(pool, (userId) => deferred.push(userId));
  const keptOf = (userId: string) => readKept(pool, userId);
  const storedOf = (userId: string) => readStored(pool, userId);
  return {
    database,
    pool,
    readings,
    profiles: createPgProfileWriter(pool, (userId) => deferred.push(userId)),
    rollups: createPgRollupStore(pool, undefined, database),
    /** Users whose rebuild was deferred to the background. */
    deferred,
    put: (userId: string, rows: readonly ReadingRow[], during?: ImportKey) =>
      readings.put(userId, rows.map(identify(userId)), during),
    remove: (userId: string, rows: readonly ReadingRow[], windows: readonly ReadingWindow[] = []) =>
      readings.delete(userId, rows.map(identify(userId)), windows),
    storedOf,
    keptOf,
    /** Checks that the derived tables equal those computed from the stored readings, row by row. */
    expectKept: async (userId: string, zone = 'UTC') => {
      expect(await keptOf(userId)).toEqual(computeKept(await storedOf(userId), zone));
    },
    /** Marks the rollups as invalid. */
    invalidate: async (userId: string) => {
      await pool.query('DELETE FROM rollup_state WHERE user_id = $1', [userId]);
    },
  };
}

function identify(userId: string) {
  return ({ type, start, end, value, source }: ReadingRow) => {
    const key = { metric: getMetric(type), startAt: new Date(start), endAt: new Date(end), source };
    return { ...key, value, id: toReadingId(userId, key) };
  };
}

/** A reading of a test, with defaults. */
export function row(
  type: MetricKey,
  start: string,
  value: number | null,
  rest: { end?: string; source?: string } = {},
): ReadingRow {
  const { end = start, source = 'iphone' } = rest;
  return { type, start: Date.parse(start), end: Date.parse(end), value, source };
}

const KEPT = `
  SELECT concat_ws(' ', 'reading_count', type, span, CASE WHEN isfinite(start_at) THEN to_char(start_at, 'YYYY-MM-DD"T"HH24:MI')
    ELSE '-infinity' END, count) AS text FROM reading_count WHERE user_id = $1
  UNION ALL
  SELECT concat_ws(' ', 'hour_rollup', type, to_char(hour, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), count, sum, min, max, below, above)
  FROM hour_rollup WHERE user_id = $1
  UNION ALL
  SELECT concat_ws(' ', 'day_rollup', type, span, start_on, count, sum, min, max, below, above, hours, days)
  FROM day_rollup WHERE user_id = $1`;

/** The rows of all derived tables as texts like those of computeKept. The session uses UTC. */
export async function readKept(client: Pick<pg.Pool, 'query'>, userId: string): Promise<string[]> {
  const { rows } = await client.query<{ text: string }>(KEPT, [userId]);
  return rows.map(({ text }) => text).sort();
}

async function readStored(pool: pg.Pool, userId: string): Promise<ReadingRow[]> {
  const { rows } = await pool.query(
    'SELECT type, start_at, end_at, value, source FROM reading WHERE user_id = $1',
    [userId],
  );
  return rows.map(({ type, start_at, end_at, value, source }) => {
    return { type, start: start_at.getTime(), end: end_at.getTime(), value, source };
  });
}
