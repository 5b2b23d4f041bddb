import type { Scope } from '@phds/catalog/scopes';
import { notFound } from '@phds/service-kit/errors';
import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { ShownApp } from './app-profiles.ts';

/**
 * Status of a pending approval; all except `pending` are final. `expired` (600 s without a decision) and `cancelled` (the app was
 * revoked before that) are determined when reading.
 */
export type PendingStatus = 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';

/** An app's request for consent. */
export interface ConsentRequest {
  readonly id: string;
  readonly redirectHost: string;
  readonly scopes: readonly Scope[];
  /** In the app's own words; empty when absent or when the app was not authenticated. */
  readonly purpose: string;
  /** Whether the app was authenticated by its secret when it opened the request. */
  readonly clientAuthenticated: boolean;
}

/** The lifetime of a grant: a number of days from the decision, or until the end of the live grant. */
export type GrantLife = number | 'kept';

/** The approved terms, stored to recognise a repeated decision. */
export interface Approval {
  readonly scopes: readonly Scope[];
  readonly days: GrantLife;
  readonly dataFrom: string | null;
  readonly grantId: string;
  readonly grantExpiresAt: Date;
}

interface PendingRow extends ConsentRequest {
  readonly clientId: string;
  readonly appEpoch: number;
  readonly status: PendingStatus;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly claimedBy: string | null;
  /** How often the time to decide was extended. */
  readonly extensions: number;
  readonly decidedAt: Date | null;
  readonly shownApp: ShownApp;
}

/** A pending approval. */
export interface PendingApproval extends PendingRow {
  /** Present only if approved. */
  readonly approval: Approval | null;
}

/** A pending approval as read from the database. */
export interface StoredApproval extends PendingRow {
  readonly approvedScopes: Scope[];
  /** Null when not approved, and when the approval kept the end of the live grant. */
  readonly approvedDays: number | null;
  readonly approvedDataFrom: string | null;
  readonly grantId: string;
  readonly grantExpiresAt: Date;
}

/** The approved terms, which the database has for every approved one; null unless approved. */
function toApproval(row: StoredApproval): Approval | null {
  if (row.status !== 'approved') return null;
  const { approvedScopes: scopes, approvedDays, approvedDataFrom: dataFrom, grantId, grantExpiresAt } = row;
  return { scopes, days: approvedDays ?? 'kept', dataFrom, grantId, grantExpiresAt };
}

const LOCK = readStatement(new URL('store/sql/lock-approval.sql', import.meta.url));
const READ = readStatement(new URL('store/sql/read-approval.sql', import.meta.url));

/** Locks the pending approval and returns its app. Throws `not_found` when it is unknown or another person's. */
export async function lockPending(tx: pg.ClientBase, id: string, userId: string): Promise<string> {
  const [row] = await queryRows<{ clientId: string; claimedBy: string | null }>(tx, LOCK, id);
  if (row === undefined || (row.claimedBy !== null && row.claimedBy !== userId)) throw notFound();
  return row.clientId;
}

/** Read by a separate statement after the lock, in a fresh snapshot with the current clock. */
export async function readPending(
  tx: pg.ClientBase,
  id: string,
): Promise<{ pending: PendingApproval; now: Date }> {
  const [row] = await queryRows<StoredApproval & { now: Date }>(tx, READ, id);
  if (row === undefined) throw new Error(`pending approval ${id} has no app`);
  return { pending: { ...row, approval: toApproval(row) }, now: row.now };
}
