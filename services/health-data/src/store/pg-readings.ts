import type { MetricKey } from '@phds/catalog/metrics';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type pg from 'pg';
import type { ReadingReader } from '../app/ports.ts';
import type { Reading } from '../domain/reading.ts';
import { TEXT_ROWS, toTimestamp } from './database.ts';
import { toStatement } from './reading-list-sql.ts';

type Row = readonly [
  id: string,
  type: MetricKey,
  value: string | null,
  source: string,
  start: string,
  total: string,
];

type EmptyPage = readonly [null, null, null, null, null, total: string];

/** Lists of readings: one prepared statement answers the page and the total, out of one snapshot. */
export function createPgReadings(pool: pg.Pool): ReadingReader {
  return translatingErrors({
    async list(query) {
      const result = await pool.query({ ...TEXT_ROWS, ...toStatement(query) });
      // With rowMode 'array' a row is the array itself, which the driver's types have no words for.
      const rows = result.rows as unknown as (Row | EmptyPage)[];
      return { items: rows.filter(isReading).map(toReading), total: Number(rows[0]?.[5] ?? 0) };
    },
  });
}

function isReading(row: Row | EmptyPage): row is Row {
  return row[0] !== null;
}

function toReading([id, metric, value, source, start]: Row): Reading {
  return { id, metric, value: value === null ? null : Number(value), source, timestamp: toTimestamp(start) };
}
