import type { PrunedTables } from '@phds/service-kit/background';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { join, type Sql } from 'sql-template-tag';

/** The settings of retention, in days. */
export interface KeptDays {
  readonly PRUNE_REVOCATIONS_AFTER_DAYS: number;
  readonly PRUNE_PENDING_AFTER_DAYS: number;
  readonly PRUNE_REFUSALS_AFTER_DAYS: number;
  readonly PRUNE_WEBHOOK_EVENTS_AFTER_DAYS: number;
  readonly PRUNE_WEBHOOK_DATA_EVENTS_AFTER_DAYS: number;
}

/**
 * Deletes by the database's clock. Grants, events and records are history and are kept. Revocations and ends of sessions are deleted by
 * functions of the schema's owner, which limit what the service can delete. The keys are an array, so that Postgres evaluates the subquery
 * once; otherwise it could run it again and lock other rows.
 */
export function createPruning(pool: pg.Pool, days: KeptDays) {
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
        WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - ${days.PRUNE_REFUSALS_AFTER_DAYS}::int
        ORDER BY day LIMIT ${limit} FOR UPDATE SKIP LOCKED))`;
  const delivered = sql`type = 'data.updated' AND state = 'delivered'`;
  const [events, createdAt] = [sql`webhook_event`, sql`created_at`];
  return {
    revoked_family: call(sql`prune_revoked_family`, days.PRUNE_REVOCATIONS_AFTER_DAYS),
    revoked_token: call(sql`prune_revoked_token`, days.PRUNE_REVOCATIONS_AFTER_DAYS),
    session_end: call(sql`prune_session_end`),
    pending_approval: remove(sql`pending_approval`, createdAt, days.PRUNE_PENDING_AFTER_DAYS),
    refused_request: removeDays(sql`refused_request`),
    refused_read: removeDays(sql`refused_read`),
    webhook_event: remove(events, createdAt, days.PRUNE_WEBHOOK_EVENTS_AFTER_DAYS),
    webhook_event_data: remove(events, createdAt, days.PRUNE_WEBHOOK_DATA_EVENTS_AFTER_DAYS, delivered),
  } satisfies PrunedTables;
}
