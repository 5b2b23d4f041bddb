import { queryCount, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { lowerBound } from './database.ts';

const COUNT = readStatement(new URL('sql/count-readings.sql', import.meta.url));

/** The number of readings of some metric types: of all, or those of the days of UTC that begin at `from` or later. */
export function countReadings(
  pool: pg.Pool,
  userId: string,
  types: readonly string[],
  from: Date | null,
): Promise<number> {
  const span = from === null ? 'all' : 'day';
  return queryCount(pool, COUNT, userId, types, span, lowerBound(from));
}
