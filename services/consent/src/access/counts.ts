import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';

const COUNT_NEXT = readStatement(new URL('../store/sql/count-accesses.sql', import.meta.url));
const MOST_BATCHES = 200;

/**
 * Counts records by UTC day and quarter hour, so that reading the counts does not scan records: some of the uncounted batches, each exactly
 * once even with concurrent callers. One statement, so that a batch is never both uncounted and counted. Returns how many. Requires the
 * planner settings of the access pools.
 */
export async function countNext(pool: pg.Pool, atMost: number): Promise<number> {
  const [counted] = await queryRows<{ taken: number }>(pool, COUNT_NEXT, atMost);
  return counted?.taken ?? 0;
}

/**
 * Returns a task that counts until less than a full portion is left, or until aborted; under load there are always some uncounted, which the
 * next run counts. A portion is halved when a statement fails, down to one batch, and doubled when one succeeds, so that a backlog of large
 * batches is counted even if a full portion exceeds the statement timeout.
 */
export function createCounting(
  countPortion: (atMost: number) => Promise<number>,
): (signal: AbortSignal) => Promise<void> {
  let portion = MOST_BATCHES;
  return async (signal) => {
    while (!signal.aborted) {
      const atMost = portion;
      portion = Math.ceil(atMost / 2);
      const counted = await countPortion(atMost);
      portion = Math.min(atMost * 2, MOST_BATCHES);
      if (counted < atMost) return;
    }
  };
}
