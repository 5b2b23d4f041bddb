import type { Scope } from '@phds/catalog/scopes';
import type { GrantEnder } from '@phds/catalog/wire-names';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import type { Grant, GrantStatus } from './domain/grant.ts';
import { toSub } from './store/subs.ts';

/** Whether the epoch `e` ended the one of the grant `g`: its start is then when the app was revoked. */
export const IS_ENDING_EPOCH = sql`e.client_id = g.client_id AND e.epoch = g.app_epoch + 1`;

/** A grant `g`, its app `a`, and the epoch `e` that ended the grant's own, if any. */
export const GRANT_FROM = sql`consent_grant g
  JOIN app a ON a.client_id = g.client_id
  LEFT JOIN app_epoch e ON ${IS_ENDING_EPOCH}`;

/** Whether the grant `g` of the app `a` was revoked neither alone nor with its app. Its time may be over. */
export const UNREVOKED = sql`g.revoked_at IS NULL AND g.app_epoch = a.epoch`;

/** Whether the status of the grant `g` of the app `a` is active (GRANT_STATUS). */
export const LIVE = sql`${UNREVOKED} AND g.expires_at > statement_timestamp()`;

/**
 * The status of a grant at the start of the statement. One that was revoked, or is of an older epoch, is never active, whatever the
 * clocks; it is expired if it expired before it was revoked or that epoch ended.
 */
export const GRANT_STATUS = sql`CASE
  WHEN g.revoked_at IS NOT NULL THEN CASE WHEN g.revoked_at >= g.expires_at THEN 'expired' ELSE 'revoked' END
  WHEN g.app_epoch < a.epoch THEN CASE WHEN e.started_at >= g.expires_at THEN 'expired' ELSE 'revoked' END
  WHEN g.expires_at <= statement_timestamp() THEN 'expired'
  ELSE 'active' END`;

/** Whether an unconfirmed restore suspends a grant. Its person sees it as active, like a grant of a suspended app. */
export const SUSPENDED = sql`coalesce(g.restore_number < (SELECT below FROM consent_audit.suspension), false)`;

/**
 * Seconds before its end from which a grant is not joined any more, because it must not become active again: longer than a
 * transaction can take, which commits within 11 s (`transact`).
 */
export const JOIN_MARGIN_SECONDS = 15;

/** The columns of a GrantRow. */
export const GRANT_COLUMNS = sql`g.id, g.user_id AS "userId", g.client_id AS "clientId", g.scopes,
  g.granted_at AS "grantedAt", g.expires_at AS "expiresAt", to_char(g.data_from, 'YYYY-MM-DD') AS "dataFrom",
  ${GRANT_STATUS} AS status, g.revoked_at AS "revokedAt", g.revoked_by AS "revokedBy", e.started_at AS "epochEndedAt",
  g.deletion_requested_at AS "deletionRequestedAt", sub_hash(g.user_ref, g.client_id) AS "subHash"`;

/** A grant as read from the database. */
export interface GrantRow {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly scopes: Scope[];
  readonly grantedAt: Date;
  readonly expiresAt: Date;
  readonly dataFrom: string | null;
  readonly status: GrantStatus;
  readonly revokedAt: Date | null;
  readonly revokedBy: 'app' | 'operator' | null;
  readonly epochEndedAt: Date | null;
  readonly deletionRequestedAt: Date | null;
  readonly subHash: Uint8Array;
}

export async function selectGrants(pool: pg.Pool, where: Sql): Promise<Grant[]> {
  return (await select<GrantRow>(pool)`${grantsWhere(where)}`).map(toGrant);
}

export function grantsWhere(where: Sql): Sql {
  return sql`SELECT ${GRANT_COLUMNS} FROM ${GRANT_FROM} WHERE ${where}`;
}

export function toGrant(row: GrantRow): Grant {
  const { id, userId, clientId, scopes, grantedAt, expiresAt, dataFrom, status, deletionRequestedAt } = row;
  return {
    id,
    userId,
    clientId,
    scopes,
    grantedAt,
    expiresAt,
    dataFrom,
    status,
    revokedAt: status === 'revoked' ? (row.revokedAt ?? row.epochEndedAt) : null,
    endedBy: findEnder(row),
    sub: toSub(row.subHash),
    deletionRequestedAt,
  };
}

function findEnder({ status, revokedAt, revokedBy }: GrantRow): GrantEnder | null {
  switch (status) {
    case 'active':
      return null;
    case 'expired':
      return 'expiry';
    case 'revoked':
      return revokedAt === null ? 'developer' : (revokedBy ?? 'person');
  }
}
