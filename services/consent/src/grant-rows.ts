import type { Scope } from '@phds/catalog/scopes';
import type { GrantEnder } from '@phds/catalog/wire-names';
import { base62, findBase62Bytes } from '@phds/service-kit/ids';
import { queryRows, readStatement, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import type { GrantTerms } from './terms.ts';

/** Status of a grant at the time of reading: `active -> expired | revoked`, by the database's clock. */
export type GrantStatus = 'active' | 'expired' | 'revoked';

/** A person's consent for one app. */
export interface Grant extends GrantTerms {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly status: GrantStatus;
  readonly grantedAt: Date;
  readonly revokedAt: Date | null;
  /** Null while active. */
  readonly endedBy: GrantEnder | null;
  /** Identifies the person to this app only: the same in all of their grants for it until they are erased. */
  readonly sub: string;
  /** When the person asked the app to delete what it has read. */
  readonly deletionRequestedAt: Date | null;
}

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
export interface GrantRow extends Omit<Grant, 'endedBy' | 'sub'> {
  readonly scopes: Scope[];
  readonly revokedBy: 'app' | 'operator' | null;
  readonly epochEndedAt: Date | null;
  readonly subHash: Uint8Array;
}

const FIND = readStatement(new URL('store/sql/find-grant.sql', import.meta.url));

/** A grant of anybody, or null unless it is of this person or app. */
export async function findGrant(
  pool: pg.Pool,
  id: string,
  { userId, clientId }: { readonly userId?: string; readonly clientId?: string } = {},
): Promise<Grant | null> {
  const [row] = await queryRows<GrantRow>(pool, FIND, id, userId ?? null, clientId ?? null);
  return row === undefined ? null : toGrant(row);
}

export async function selectGrants(pool: pg.Pool, where: Sql): Promise<Grant[]> {
  return (await select<GrantRow>(pool)`${grantsWhere(where)}`).map(toGrant);
}

export function grantsWhere(where: Sql): Sql {
  return sql`SELECT ${GRANT_COLUMNS} FROM ${GRANT_FROM} WHERE ${where}`;
}

export function toGrant<R extends GrantRow>({ subHash, revokedBy, epochEndedAt, ...row }: R) {
  const { status, revokedAt } = row;
  const ender = revokedAt === null ? 'developer' : (revokedBy ?? 'person');
  const enders = { active: null, expired: 'expiry', revoked: ender } as const;
  return {
    ...row,
    revokedAt: status === 'revoked' ? (revokedAt ?? epochEndedAt) : null,
    endedBy: enders[status],
    sub: toSub(subHash),
  };
}

const SUB_PREFIX = 'sub_';
const SUB_BYTES = 16;

/** The `sub` of a person for one app, from the result of the database function `sub_hash`. */
export function toSub(hash: Uint8Array): string {
  return `${SUB_PREFIX}${base62(hash)}`;
}

/** The hash of a `sub`; null for a text that is none. */
export function findSubHash(sub: string): Uint8Array | null {
  return sub.startsWith(SUB_PREFIX) ? findBase62Bytes(sub.slice(SUB_PREFIX.length), SUB_BYTES) : null;
}
