import { expect } from '@jest/globals';
import { getMetric, type MetricKey } from '@phds/catalog/metrics';
import type pg from 'pg';
import type { ImportName } from '../src/database.ts';
import { createReadingWriter, type ReadingWindow } from '../src/ingest-readings.ts';
import { createProfiles } from '../src/profiles.ts';
import { toReadingId } from '../src/row-ids.ts';
import { computeDerived, type ReadingRow } from './derived-rows.ts';
import { shareStorePool } from './store-pool.ts';

/** The stores that write readings and derived tables, on a database of their own, for all tests of the file. */
export async function shareWritingHarness(poolSize = 8) {
  const { database, pool } = await shareStorePool('writing', poolSize);
  const readings = createReadingWriter(pool);
  const derivedOf = (userId: string) => readDerived(pool, userId);
  const storedOf = (userId: string) => readStored(pool, userId);
  return {
    database,
    pool,
    profiles: createProfiles(pool),
    put: (userId: string, rows: readonly ReadingRow[], during?: ImportName) =>
      readings.put(userId, rows.map(identify(userId)), during),
    remove: (userId: string, rows: readonly ReadingRow[], windows: readonly ReadingWindow[] = []) =>
      readings.delete(userId, rows.map(identify(userId)), windows),
    storedOf,
    derivedOf,
    /** Checks that the derived tables equal those computed from the stored readings, row by row. */
    expectDerived: async (userId: string) => {
      expect(await derivedOf(userId)).toEqual(computeDerived(await storedOf(userId)));
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

const DERIVED = `
  SELECT concat_ws(' ', 'reading_count', type, span, start_at::date, count) AS text FROM reading_count WHERE user_id = $1
  UNION ALL
  SELECT concat_ws(' ', 'reading_quarter', type, to_char(at, 'YYYY-MM-DD"T"HH24:MI'), source, count, sum, min, max, below, above)
  FROM reading_quarter WHERE user_id = $1`;

/** The rows of all derived tables as texts like those of computeDerived. The session uses UTC. */
async function readDerived(pool: pg.Pool, userId: string): Promise<string[]> {
  const { rows } = await pool.query<{ text: string }>(DERIVED, [userId]);
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
