import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';

// The monthly partitions of access records. Functions of the schema's owner add and drop them, because the service itself cannot change
// tables. Safe for concurrent instances.

const MAKE = readStatement(new URL('../store/sql/make-access-months.sql', import.meta.url));
const DROP = readStatement(new URL('../store/sql/drop-access-month.sql', import.meta.url));
const DELETE_COUNTS = readStatement(new URL('../store/sql/delete-dropped-counts.sql', import.meta.url));

/** Number of months prepared ahead of the current one. */
const MONTHS_AHEAD = 3;

/**
 * Creates missing partitions: of this month, of the next ones, and of older months with records in the default partition. Then drops those
 * that ended before the retention period, whose counts are hidden from then on; 0 days keep records for ever. Ends when aborted. Returns
 * the names of the dropped ones.
 */
export async function moveMonths(
  pool: pg.Pool,
  retentionDays: number,
  signal: AbortSignal,
): Promise<string[]> {
  let made = 1;
  while (made > 0 && !signal.aborted) {
    const [row] = await queryRows<{ made: number }>(pool, MAKE, MONTHS_AHEAD);
    made = row?.made ?? 0;
  }
  const dropped: string[] = [];
  while (retentionDays !== 0 && !signal.aborted) {
    const [row] = await queryRows<{ name: string | null }>(pool, DROP, retentionDays);
    if (row === undefined || row.name === null) break;
    dropped.push(row.name);
  }
  return dropped;
}

interface Deleted {
  /** The first day of which counts may be left; null if none are. */
  readonly next: string | null;
}

/** Deletes the counts of all dropped months, some in each statement, until aborted. */
export async function deleteDroppedCounts(pool: pg.Pool, signal: AbortSignal): Promise<void> {
  let from: string | null = '-infinity';
  while (from !== null && !signal.aborted) {
    const [row]: Deleted[] = await queryRows<Deleted>(pool, DELETE_COUNTS, from);
    from = row?.next ?? null;
  }
}
