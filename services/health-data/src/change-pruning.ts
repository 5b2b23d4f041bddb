import type { Clock } from '@phds/service-kit/clock';
import { queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { ONE_SERVER } from './database.ts';

const PRUNE = readStatement(new URL('sql/prune-changes.sql', import.meta.url));
const PRUNE_RANGE = readStatement(new URL('sql/prune-changes-of-range.sql', import.meta.url));
const FIND_RANGE_END = readStatement(new URL('sql/find-range-end.sql', import.meta.url));

const USERS_AT_ONCE = 1_000;

type ChangePruning = ReturnType<typeof createChangePruning>;

/** Deletes old changes. */
export function createChangePruning(pool: pg.Pool, { distributed } = ONE_SERVER) {
  return {
    /**
     * Deletes reported changes before a time: in the order of users, those of the next ones behind `after`, at most `limit` changes.
     * The latest of each user before that time stays. Returns the user behind whom the next call goes on; null at the end.
     */
    async prune(after: string, before: Date, limit: number): Promise<string | null> {
      if (distributed) return pruneRange(pool, after, before);
      const values = [after, before, limit, USERS_AT_ONCE];
      const [pruned] = await queryRows<{ last: string | null; deleted: number }>(pool, PRUNE, ...values);
      const { last, deleted } = pruned ?? { last: null, deleted: 0 };
      return deleted < limit ? last : after;
    },
  };
}

async function pruneRange(pool: pg.Pool, after: string, before: Date): Promise<string | null> {
  const [range] = await queryRows<{ last: string | null }>(pool, FIND_RANGE_END, after, USERS_AT_ONCE);
  const last = range?.last ?? null;
  if (last !== null) await runStatement(pool, PRUNE_RANGE, after, last, before);
  return last;
}

const DAY_MS = 86_400_000;

/**
 * Goes through all users once a day, as a task of pruning: each call goes on where the last one ended or failed. A day later than cursors
 * expire, because a change can become visible some time after its own time.
 */
export function forgetChanges({ prune }: ChangePruning, days: number, clock: Clock) {
  let after = '';
  let nextAt = 0;
  return async (limit: number): Promise<number> => {
    const now = clock.now().getTime();
    if (now < nextAt) return 0;
    const last = await prune(after, new Date(now - (days + 1) * DAY_MS), limit);
    after = last ?? '';
    if (last !== null) return limit;
    nextAt = now + DAY_MS;
    return 0;
  };
}
