import { readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';

const COUNT_NEXT = readStatement(new URL('../store/sql/count-accesses.sql', import.meta.url));
/** Batches that one statement counts. Even the largest ones take a small part of its time. */
const BATCHES_AT_ONCE = 50;

/**
 * Counts records by UTC day and quarter hour, so that reading the counts does not scan records: some of the uncounted batches, each exactly
 * once even with concurrent callers. One statement, so that a batch is never both uncounted and counted. Returns how many. Requires the
 * planner settings of the access pools.
 */
export async function countNext(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ taken: number }>({ ...COUNT_NEXT, values: [BATCHES_AT_ONCE] });
  return rows[0]?.taken ?? 0;
}

/** Counts until less than a full portion is left, or until aborted. Under load there are always some uncounted, which the next run counts. */
export async function countAll(pool: pg.Pool, signal: AbortSignal): Promise<void> {
  let counted = BATCHES_AT_ONCE;
  while (counted === BATCHES_AT_ONCE && !signal.aborted) counted = await countNext(pool);
}
