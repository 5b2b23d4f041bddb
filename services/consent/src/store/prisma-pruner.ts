import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { PrunedTables } from '@phds/service-kit/pruning';
import type { PrismaClient } from './generated/client.ts';

/** The settings of retention, in days. */
export interface KeptDays {
  readonly PRUNE_REVOCATIONS_AFTER_DAYS: number;
  readonly PRUNE_PENDING_AFTER_DAYS: number;
  readonly PRUNE_REFUSALS_AFTER_DAYS: number;
  readonly PRUNE_SANDBOX_GRANTS_AFTER_DAYS: number;
  readonly PRUNE_DROPPED_CHAINS_AFTER_DAYS: number;
  readonly PRUNE_NOTICES_AFTER_DAYS: number;
  readonly PRUNE_REPORTS_AFTER_DAYS: number;
  readonly PRUNE_WEBHOOK_EVENTS_AFTER_DAYS: number;
  readonly PRUNE_WEBHOOK_DATA_EVENTS_AFTER_DAYS: number;
}

/**
 * Deletes by the database's clock. Grants, events and records of people are history and are kept. Revocations, ends of sessions, history of
 * the sandbox and ends of dropped chains are deleted by functions of the schema's owner, which limit what the service can delete. The keys
 * are an array, so that Postgres evaluates the subquery once; otherwise it could run it again and lock other rows.
 */
export function createPrismaPruner(prisma: PrismaClient, days: KeptDays) {
  return translatingErrors({
    revoked_family: async (limit) =>
      countOf(
        await prisma.$queryRaw`SELECT prune_revoked_family(${days.PRUNE_REVOCATIONS_AFTER_DAYS}::int, ${limit}::int) AS count`,
      ),
    revoked_token: async (limit) =>
      countOf(
        await prisma.$queryRaw`SELECT prune_revoked_token(${days.PRUNE_REVOCATIONS_AFTER_DAYS}::int, ${limit}::int) AS count`,
      ),
    session_end: async (limit) =>
      countOf(await prisma.$queryRaw`SELECT prune_session_end(${limit}::int) AS count`),
    sandbox_grant: async (limit) =>
      countOf(
        await prisma.$queryRaw`SELECT prune_sandbox_grants(${days.PRUNE_SANDBOX_GRANTS_AFTER_DAYS}::int, ${limit}::int) AS count`,
      ),
    access_dropped: async (limit) =>
      countOf(
        await prisma.$queryRaw`SELECT prune_access_dropped(${days.PRUNE_DROPPED_CHAINS_AFTER_DAYS}::int, ${limit}::int) AS count`,
      ),
    pending_approval: (limit) => prisma.$executeRaw`
      DELETE FROM pending_approval WHERE id = ANY(ARRAY(
        SELECT id FROM pending_approval
        WHERE created_at < statement_timestamp() - make_interval(days => ${days.PRUNE_PENDING_AFTER_DAYS}::int)
        ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    refused_request: (limit) => prisma.$executeRaw`
      DELETE FROM refused_request WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM refused_request
        WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - ${days.PRUNE_REFUSALS_AFTER_DAYS}::int
        ORDER BY day LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    notice: (limit) => prisma.$executeRaw`
      DELETE FROM notice WHERE id = ANY(ARRAY(
        SELECT id FROM notice
        WHERE at < statement_timestamp() - make_interval(days => ${days.PRUNE_NOTICES_AFTER_DAYS}::int)
        ORDER BY at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    app_report: (limit) => prisma.$executeRaw`
      DELETE FROM app_report WHERE id = ANY(ARRAY(
        SELECT id FROM app_report
        WHERE at < statement_timestamp() - make_interval(days => ${days.PRUNE_REPORTS_AFTER_DAYS}::int)
        ORDER BY at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    webhook_event: (limit) => prisma.$executeRaw`
      DELETE FROM webhook_event WHERE id = ANY(ARRAY(
        SELECT id FROM webhook_event
        WHERE created_at < statement_timestamp() - make_interval(days => ${days.PRUNE_WEBHOOK_EVENTS_AFTER_DAYS}::int)
        ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    webhook_event_data: (limit) => prisma.$executeRaw`
      DELETE FROM webhook_event WHERE id = ANY(ARRAY(
        SELECT id FROM webhook_event
        WHERE created_at < statement_timestamp() - make_interval(days => ${days.PRUNE_WEBHOOK_DATA_EVENTS_AFTER_DAYS}::int)
          AND type = 'data.updated' AND state = 'delivered'
        ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
  } satisfies PrunedTables);
}

function countOf([row]: readonly { readonly count: number }[]): number {
  return row?.count ?? 0;
}
