import type { PrunedTables } from '@phds/service-kit/background';
import type { Clock } from '@phds/service-kit/clock';
import type pg from 'pg';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How many days rows are kept after their end, until they can no longer matter. */
const KEPT_DAYS = {
  /** For 24 hours, an expired access token is distinguished from an unknown one. */
  accessTokens: 2,
  /** After this, a decided or expired approval is reported as not found. */
  requests: 7,
  /** A replay of its code can revoke a family for as long as the family can live without a refresh. */
  codes: 31,
  families: 7,
  /** They are refused by their own time. */
  usedJwts: 0,
} as const;

/**
 * Deletes rows in Postgres. The keys are an array, so that Postgres evaluates the subquery once; otherwise it could run it again
 * and lock other rows.
 */
export function createPgPruner(pool: pg.Pool, clock: Clock) {
  const deleteRows = async (text: string, days: number, limit: number) => {
    const before = new Date(clock.now().getTime() - days * DAY_MS);
    return (await pool.query(text, [before, limit])).rowCount ?? 0;
  };
  /** By the time in a column. */
  const deleting = (table: string, key: string, column: string, days: number) => (limit: number) =>
    deleteRows(
      `DELETE FROM ${table} WHERE ${key} = ANY(ARRAY(
         SELECT ${key} FROM ${table} WHERE ${column} < $1 ORDER BY ${column} LIMIT $2 FOR UPDATE SKIP LOCKED))`,
      days,
      limit,
    );
  return {
    access_token: deleting('access_token', 'hash', 'expires_at', KEPT_DAYS.accessTokens),
    authorization_request: deleting('authorization_request', 'pending_id', 'created_at', KEPT_DAYS.requests),
    authorization_code: deleting('authorization_code', 'hash', 'expires_at', KEPT_DAYS.codes),
    used_jwt: deleting('used_jwt', 'hash', 'expires_at', KEPT_DAYS.usedJwts),
    // Their access tokens went five days before.
    token_family: deleting('token_family', 'id', 'expires_at', KEPT_DAYS.families),
  } satisfies PrunedTables;
}
