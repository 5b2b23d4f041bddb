import type { PrunedTables } from '@phds/service-kit/background';
import { queryCount, readStatement, runStatement, type Statement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';

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

const FAMILIES = readStatement(new URL('store/sql/prune-revoked-families.sql', import.meta.url));
const TOKENS = readStatement(new URL('store/sql/prune-revoked-tokens.sql', import.meta.url));
const SESSION_ENDS = readStatement(new URL('store/sql/prune-session-ends.sql', import.meta.url));
const APPROVALS = readStatement(new URL('store/sql/prune-approvals.sql', import.meta.url));
const REFUSED_REQUESTS = readStatement(new URL('store/sql/prune-refused-requests.sql', import.meta.url));
const REFUSED_READS = readStatement(new URL('store/sql/prune-refused-reads.sql', import.meta.url));
const EVENTS = readStatement(new URL('store/sql/prune-events.sql', import.meta.url));
const DATA_EVENTS = readStatement(new URL('store/sql/prune-data-events.sql', import.meta.url));

/**
 * Deletes by the database's clock. Grants, events of their history and records are kept. Revocations and ends of sessions are deleted by
 * functions of the schema's owner, which limit what the service can delete.
 */
export function createPruning(pool: pg.Pool) {
  const call =
    (statement: Statement, ...keptDays: number[]) =>
    (limit: number) =>
      queryCount(pool, statement, ...keptDays, limit);
  const remove = (statement: Statement, keptDays: number) => (limit: number) =>
    runStatement(pool, statement, keptDays, limit);
  return {
    revoked_family: call(FAMILIES, KEPT_DAYS.revocations),
    revoked_token: call(TOKENS, KEPT_DAYS.revocations),
    session_end: call(SESSION_ENDS),
    pending_approval: remove(APPROVALS, KEPT_DAYS.pendingApprovals),
    refused_request: remove(REFUSED_REQUESTS, KEPT_DAYS.refusals),
    refused_read: remove(REFUSED_READS, KEPT_DAYS.refusals),
    webhook_event: remove(EVENTS, KEPT_DAYS.events),
    webhook_event_data: remove(DATA_EVENTS, KEPT_DAYS.dataEvents),
  } satisfies PrunedTables;
}
