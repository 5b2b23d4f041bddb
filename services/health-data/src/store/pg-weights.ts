import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { WeightReader } from '../app/ports.ts';
import { lowerBound, TEXT_ROWS, toTimestamp, upperBound } from './database.ts';

const LIST = readStatement(new URL('sql/weights.sql', import.meta.url));

type Row = readonly [id: string | null, value: string, start: string, day: string, total: string];

/** Weight entries from the Weight readings. */
export function createPgWeights(pool: pg.Pool): WeightReader {
  return translatingErrors({
    async list({ userId, timeZone, dates, since, limit, offset }) {
      const bounds = [lowerBound(since), lowerBound(dates.from), upperBound(dates.to)];
      const values = [userId, timeZone, ...bounds, limit, offset];
      const result = await pool.query({ ...TEXT_ROWS, ...LIST, values });
      const rows = result.rows as unknown as Row[];
      const items = rows.flatMap(([id, value, start, date]) =>
        id === null ? [] : [{ id, weightKg: Number(value), timestamp: toTimestamp(start), date }],
      );
      return { items, total: Number(rows[0]?.[4] ?? 0) };
    },
  });
}
