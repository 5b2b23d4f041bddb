import type { PrunedTables } from '@phds/service-kit/background';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { join, type Sql } from 'sql-template-tag';

/** For how many days rows are kept: revoked tokens and families beyond their expiry. */
const KEPT_DAYS = {
  revocations: 7,
  pendingApprovals: 30,
  /** Counts of refused requests. */
  refusals: 400,
  /** With the log of their delivery. */
  events: 30,
  /** A delivered `data.updated`. */
  dataEvents: 3,
} as const;

/**
 * Deletes by the database's clock. Grants, events and records are history and are kept. Revocations and ends of sessions are deleted by
 * functions of the schema's owner, which limit what the service can delete. The keys are an array, so that Postgres evaluates the subquery
 * once; otherwise it could run it again and lock other rows.
 */
export function createPruning(pool: pg.Pool) {
  const call =
    (name: Sql, ...keptDays: number[]) =>
    async (limit: number) => {
      const [row] = await select<{ count: number }>(pool)`
      SELECT ${name}(${join([...keptDays, limit].map((value) => sql`${value}::int`))}) AS count`;
      return row?.count ?? 0;
    };
  const remove =
    (table: Sql, time: Sql, keptDays: number, condition = sql`true`) =>
    (limit: number) =>
      execute(pool)`
      DELETE FROM ${table} WHERE id = ANY(ARRAY(
        SELECT id FROM ${table}
        WHERE ${time} < statement_timestamp() - make_interval(days => ${keptDays}::int) AND ${condition}
        ORDER BY ${time} LIMIT ${limit} FOR UPDATE SKIP LOCKED))`;
  const removeDays = (table: Sql) => (limit: number) =>
    execute(pool)`
      DELETE FROM ${table} WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM ${table}
        WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - ${KEPT_DAYS.refusals}::int
        ORDER BY day LIMIT ${limit} FOR UPDATE SKIP LOCKED))`;
  const delivered = sql`type = 'data.updated' AND state = 'delivered'`;
  const [events, createdAt] = [sql`webhook_event`, sql`created_at`];
  return {
    revoked_family: call(sql`prune_revoked_family`, KEPT_DAYS.revocations),
    revoked_token: call(sql`prune_revoked_token`, KEPT_DAYS.revocations),
    session_end: call(sql`prune_session_end`),
    pending_approval: remove(sql`pending_approval`, createdAt, KEPT_DAYS.pendingApprovals),
    refused_request: removeDays(sql`refused_request`),
    refused_read: removeDays(sql`refused_read`),
    webhook_event: remove(events, createdAt, KEPT_DAYS.events),
    webhook_event_data: remove(events, createdAt, KEPT_DAYS.dataEvents, delivered),
  } satisfies PrunedTables;
}
