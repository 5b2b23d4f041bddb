import {
  ACCESS_TOKEN_SECONDS,
  EXPIRED_TOKEN_MEMORY_SECONDS,
  REFRESH_TOKEN_SECONDS,
  RETRY_WINDOW_SECONDS,
} from '@phds/catalog/lifetimes';
import type { Scope } from '@phds/catalog/scopes';
import type { AppStatus } from './app.ts';
import type { GrantFacts } from './liveness.ts';

/** Everything that came from one exchange of a code; reuse of a refresh token ends it as a whole. */
export interface TokenFamily {
  readonly id: string;
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly appEpoch: number;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
}

/** A refresh token as it is kept. */
export interface RefreshToken {
  readonly hash: Uint8Array;
  readonly family: TokenFamily;
  readonly scopes: readonly Scope[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  /** When it was used; null while it is the family's current one. */
  readonly rotatedAt: Date | null;
  /** Scope of the access token that its use made. */
  readonly rotatedScope: string | null;
  /** Whether the refresh token that its use made was used too. */
  readonly successorUsed: boolean;
  /** Older than a restore of the database that no operator has confirmed. */
  readonly suspended: boolean;
}

/** An access token as it is kept, with what decides about it in its family and its app. */
export interface AccessToken {
  readonly hash: Uint8Array;
  readonly clientId: string;
  /** Null for an app's own token, as the next two. */
  readonly userId: string | null;
  readonly grantId: string | null;
  readonly familyId: string | null;
  readonly scopes: readonly Scope[];
  readonly appEpoch: number;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  readonly familyRevokedAt: Date | null;
  /** Older than a restore of the database that no operator has confirmed. */
  readonly suspended: boolean;
  readonly app: { readonly status: AppStatus; readonly epoch: number };
}

/** How an access token stands by what is known here; the ledger has the last word on a live one. */
export type TokenStanding = 'live' | 'expired' | 'dead';

/**
 * Judges an access token by its own rows. Expired goes first: within 24 hours after its end a token is told so whatever
 * else happened to it (contract section 2).
 */
export function judgeAccessToken(token: AccessToken, now: Date): TokenStanding {
  const overdueMs = now.getTime() - token.expiresAt.getTime();
  if (overdueMs >= 0) return overdueMs <= EXPIRED_TOKEN_MEMORY_SECONDS * 1000 ? 'expired' : 'dead';
  if (token.revokedAt !== null || token.familyRevokedAt !== null || token.suspended) return 'dead';
  return token.app.status === 'active' && token.app.epoch === token.appEpoch ? 'live' : 'dead';
}

/** What presenting a refresh token by its owning client means (contract section 3, Refresh). */
export type RefreshMove =
  /** Its first use: make the successor pair. */
  | 'rotate'
  /** A lost answer asked for again: the same pair. */
  | 'repeat'
  /** A repeat that asks for another scope: refused, without effect. */
  | 'other_scope'
  /** Used before, and the window for repeating is closed: revoke the family. */
  | 'reuse'
  /** Expired, suspended, or of a dead family: refused, without effect. */
  | 'dead';

/** Judges a refresh token. `scope` is what the access token is to have. */
export function judgeRefresh(token: RefreshToken, scope: string, now: Date): RefreshMove {
  if (token.family.revokedAt !== null || token.suspended) return 'dead';
  if (token.rotatedAt === null) return token.expiresAt > now ? 'rotate' : 'dead';
  const windowEnds = token.rotatedAt.getTime() + RETRY_WINDOW_SECONDS * 1000;
  if (token.successorUsed || now.getTime() > windowEnds) return 'reuse';
  return token.rotatedScope === scope ? 'repeat' : 'other_scope';
}

/**
 * Those of a token's scopes that work now (contract section 3). A token keeps the scopes that its grant has lost: a read of one is refused
 * for lack of consent, and the scope works again when the person shares it again.
 */
export function toWorkingScopes(scopes: readonly Scope[], grant: GrantFacts): readonly Scope[] {
  return scopes.filter((scope) => grant.scopes.includes(scope));
}

/** End of an access token made now: an hour, never past the grant (interface.md 5.3). */
export function toAccessExpiry(now: Date, grantEnd: Date | null): Date {
  return earlier(addSeconds(now, ACCESS_TOKEN_SECONDS), grantEnd);
}

/** End of a family, and of its current refresh token, when it is made or used now: 30 days, never past the grant. */
export function toFamilyExpiry(now: Date, grantEnd: Date): Date {
  return earlier(addSeconds(now, REFRESH_TOKEN_SECONDS), grantEnd);
}

/** A time by which everything a family could have issued until now is over by itself. */
export function toFamilyHorizon(now: Date): Date {
  return addSeconds(now, REFRESH_TOKEN_SECONDS + ACCESS_TOKEN_SECONDS);
}

/** Whole seconds that are left; never negative. */
export function secondsLeft(end: Date, now: Date): number {
  return Math.max(0, Math.floor((end.getTime() - now.getTime()) / 1000));
}

export function addSeconds(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

function earlier(time: Date, limit: Date | null): Date {
  return limit !== null && limit < time ? limit : time;
}
