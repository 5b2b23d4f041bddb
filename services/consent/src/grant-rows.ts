import type { Scope } from '@phds/catalog/scopes';
import type { GrantEnder } from '@phds/catalog/wire-names';
import { base62, findBase62Bytes } from '@phds/service-kit/ids';
import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
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

/**
 * Seconds before its end from which a grant is not joined any more, because it must not become active again: longer than a
 * transaction can take, which commits within 11 s (`transact`).
 */
export const JOIN_MARGIN_SECONDS = 15;

/** A grant as read from the database. */
export interface GrantRow extends Omit<Grant, 'endedBy' | 'sub'> {
  readonly scopes: Scope[];
  readonly revokedBy: 'app' | 'operator' | null;
  readonly epochEndedAt: Date | null;
  readonly subHash: Uint8Array;
}

const FIND = readStatement(new URL('store/sql/find-grant.sql', import.meta.url));

/** Whose grant it has to be: of a person, of an app, or of anybody, for an operator. */
export type Owner = { readonly userId: string } | { readonly clientId: string } | 'anybody';

/** An owner as statements read it: person, app, and whether anybody. */
export function toOwnerValues(
  owner: Owner,
): [userId: string | null, clientId: string | null, anybody: boolean] {
  if (owner === 'anybody') return [null, null, true];
  return 'userId' in owner ? [owner.userId, null, false] : [null, owner.clientId, false];
}

/** Null when it is unknown, or somebody else's. */
export async function findGrant(pool: pg.Pool, id: string, owner: Owner): Promise<Grant | null> {
  const [row] = await queryRows<GrantRow>(pool, FIND, id, ...toOwnerValues(owner));
  return row === undefined ? null : toGrant(row);
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
