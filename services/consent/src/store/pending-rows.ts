import type { Scope } from '@phds/catalog/scopes';
import sql from 'sql-template-tag';
import type { PendingApproval, PendingStatus } from '../domain/pending-approval.ts';
import type { ShownApp } from '../domain/shown-app.ts';

/** A pending approval `p`, its app `a`, and the epoch `pe` that ended its own, if any. */
export const PENDING_FROM = sql`pending_approval p
  JOIN app a ON a.client_id = p.client_id
  LEFT JOIN app_epoch pe ON pe.client_id = p.client_id AND pe.epoch = p.app_epoch + 1`;

/** The status at the start of the statement. An approval that expired before its app was revoked stays expired. */
export const PENDING_STATUS = sql`CASE
  WHEN p.decision IS NOT NULL THEN p.decision
  WHEN p.app_epoch < a.epoch THEN CASE WHEN pe.started_at >= p.expires_at THEN 'expired' ELSE 'cancelled' END
  WHEN p.expires_at <= statement_timestamp() THEN 'expired'
  ELSE 'pending' END`;

/** The columns of a PendingRow. */
export const PENDING_COLUMNS = sql`p.id, p.client_id AS "clientId", p.app_epoch AS "appEpoch", p.redirect_host AS "redirectHost",
  p.scopes, p.purpose, p.client_authenticated AS "clientAuthenticated",
  p.created_at AS "createdAt", p.expires_at AS "expiresAt", p.claimed_by AS "claimedBy", p.extensions,
  ${PENDING_STATUS} AS status,
  p.decided_at AS "decidedAt", p.approved_scopes AS "approvedScopes", p.approved_days AS "approvedDays",
  to_char(p.approved_data_from, 'YYYY-MM-DD') AS "approvedDataFrom", p.grant_id AS "grantId",
  p.grant_expires_at AS "grantExpiresAt", p.shown_app AS "shownApp"`;

/** A pending approval as read from the database. */
export interface PendingRow {
  readonly id: string;
  readonly clientId: string;
  readonly appEpoch: number;
  readonly redirectHost: string;
  readonly scopes: Scope[];
  readonly purpose: string;
  readonly clientAuthenticated: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly claimedBy: string | null;
  readonly extensions: number;
  readonly status: PendingStatus;
  readonly decidedAt: Date | null;
  readonly approvedScopes: Scope[] | null;
  /** Null when not approved, and when the approval kept the end of the live grant. */
  readonly approvedDays: number | null;
  readonly approvedDataFrom: string | null;
  readonly grantId: string | null;
  readonly grantExpiresAt: Date | null;
  readonly shownApp: ShownApp;
}

export function toPendingApproval(row: PendingRow): PendingApproval {
  const { id, clientId, appEpoch, redirectHost, scopes, purpose, clientAuthenticated } = row;
  return {
    id,
    clientId,
    appEpoch,
    redirectHost,
    scopes,
    purpose,
    clientAuthenticated,
    status: row.status,
    claimedBy: row.claimedBy,
    extensions: row.extensions,
    decidedAt: row.decidedAt,
    shownApp: row.shownApp,
    approval: toApproval(row),
  };
}

/** The approved terms; null unless approved. */
export function toApproval(row: PendingRow): PendingApproval['approval'] {
  const { approvedScopes, approvedDays, approvedDataFrom, grantId, grantExpiresAt } = row;
  if (row.status !== 'approved') return null;
  if (approvedScopes === null || grantId === null || grantExpiresAt === null) {
    throw new Error(`pending approval ${row.id} is approved without its terms`);
  }
  return {
    scopes: approvedScopes,
    days: approvedDays ?? 'kept',
    dataFrom: approvedDataFrom,
    grantId,
    grantExpiresAt,
  };
}
