import { toPatientId } from '@phds/catalog/fhir/resource-types';
import { formatGrantedScopes, wantsPatient } from '@phds/catalog/fhir/words';
import {
  ACCESS_TOKEN_SECONDS,
  EXPIRED_TOKEN_MEMORY_SECONDS,
  REFRESH_TOKEN_SECONDS,
} from '@phds/catalog/lifetimes';
import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import { type App, type AppStatus, accessSecondsOf } from './app.ts';

/** Everything derived from one exchange of a code; reuse of a refresh token revokes it as a whole. */
export interface TokenFamily {
  readonly id: string;
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly appEpoch: number;
  /** Those of the exchange; of a family that grows, also all that the grant had at a refresh since. */
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  /** Whether its access tokens are bound to keys. A family of an app with a secret never gets unbound ones afterwards. */
  readonly isBound: boolean;
  /** Thumbprint of the one key that an app without a secret began with; null without one, and for other apps. */
  readonly jkt: string | null;
  /** As in AuthorizationRequest. */
  readonly askedWords: readonly string[];
  /** Whether a refresh opens what the grant has got since: it began with `include_granted_scopes`. */
  readonly grows: boolean;
  /** SHA-256 of the current refresh token. */
  readonly refreshHash: Uint8Array;
  /** That of the one before it; null before the first refresh. */
  readonly previousHash: Uint8Array | null;
  /** Number of refreshes so far. */
  readonly generation: number;
  /** When the refresh token before the current one was used, by the clock of the database; null before the first use, like the next ones. */
  readonly rotatedAt: Date | null;
  /** Milliseconds since then, by the same clock. */
  readonly rotatedForMs: number | null;
  /** The scope that this use requested; empty if none. */
  readonly rotatedScope: string | null;
  /** Whether the current refresh token was issued before an unconfirmed restore of the database. */
  readonly suspended: boolean;
}

/** A stored access token with the facts of its family and app. */
export interface AccessToken {
  readonly hash: Uint8Array;
  readonly clientId: string;
  /** Null for an app's own token, like the next two. */
  readonly userId: string | null;
  readonly grantId: string | null;
  readonly familyId: string | null;
  readonly scopes: readonly Scope[];
  /** Thumbprint of the key that it is bound to; null for a bearer token. */
  readonly jkt: string | null;
  readonly appEpoch: number;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  readonly familyRevokedAt: Date | null;
  /** As in TokenFamily; none for an app's own token. */
  readonly askedWords: readonly string[];
  /** Whether it was issued before an unconfirmed restore of the database. */
  readonly suspended: boolean;
  readonly app: {
    readonly status: AppStatus;
    readonly epoch: number;
  };
}

/** The status of an access token according to our own tables; the ledger decides about a live one. */
export type TokenState = 'live' | 'expired' | 'dead';

/**
 * Judges an access token by our own rows. Expiry is checked first: within 24 hours after its end, a token is reported as expired
 * whatever else happened to it.
 */
export function judgeAccessToken(token: AccessToken, now: Date): TokenState {
  const overdueMs = now.getTime() - token.expiresAt.getTime();
  if (overdueMs >= 0) return overdueMs <= EXPIRED_TOKEN_MEMORY_SECONDS * 1000 ? 'expired' : 'dead';
  if (token.revokedAt !== null || token.familyRevokedAt !== null || token.suspended) return 'dead';
  return token.app.status === 'active' && token.app.epoch === token.appEpoch ? 'live' : 'dead';
}

/**
 * The scopes of a token that work now. A token keeps scopes that its grant has lost: reads with them are
 * refused for lack of consent, and they work again when the person shares them again.
 */
export function toWorkingScopes(scopes: readonly Scope[], grant: GrantFacts): readonly Scope[] {
  return scopes.filter((scope) => grant.scopes.includes(scope));
}

/** The scopes of a token together with all that its grant has now, in catalog order. */
export function widenScopes(scopes: readonly Scope[], grant: GrantFacts): readonly Scope[] {
  return SCOPE_NAMES.filter((scope) => scopes.includes(scope) || grant.scopes.includes(scope));
}

/** What a token opens, in the words that its app asked with. */
export interface DescribedAccess {
  readonly scope: string;
  /** Id of the Patient; null unless the app asked as SMART does, and for the app's own token. */
  readonly patient: string | null;
}

/** Describes the scopes of a token that work now. `sub` is the person, null for none. */
export function describeAccess(
  access: {
    readonly askedWords: readonly string[];
    readonly scopes: readonly Scope[];
    readonly sub: string | null;
  },
  { scopes: registered }: Pick<App, 'scopes'>,
  fhirBase: string,
): DescribedAccess {
  const { askedWords, scopes, sub } = access;
  return {
    scope: formatGrantedScopes(askedWords, scopes, { base: fhirBase, registered }),
    patient: sub !== null && wantsPatient(askedWords) ? toPatientId(sub) : null,
  };
}

/** Expiry of an access token issued now: never after the grant's end. */
export function toAccessExpiry(app: App, now: Date, grantEnd: Date | null): Date {
  return earlier(addSeconds(now, accessSecondsOf(app)), grantEnd);
}

/** End of a family and its current refresh token when created or used now: never after the grant's end. */
export function toFamilyExpiry(now: Date, grantEnd: Date): Date {
  return earlier(addSeconds(now, REFRESH_TOKEN_SECONDS), grantEnd);
}

/** A time by which everything that a family could have issued until now has expired. */
export function toFamilyHorizon(now: Date): Date {
  return addSeconds(now, REFRESH_TOKEN_SECONDS + ACCESS_TOKEN_SECONDS);
}

/** Remaining whole seconds, at least 0. */
export function secondsLeft(end: Date, now: Date): number {
  return Math.max(0, Math.floor((end.getTime() - now.getTime()) / 1000));
}

export function addSeconds(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

function earlier(time: Date, limit: Date | null): Date {
  return limit !== null && limit < time ? limit : time;
}

/** Status of a consent grant. */
export type GrantStatus = 'active' | 'expired' | 'revoked';

/** The facts of a grant that decide about access. */
export interface GrantFacts {
  readonly status: GrantStatus;
  readonly scopes: readonly string[];
  readonly expiresAt: Date;
  readonly userId: string;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
  /** Identifies the person to this app only; null while consent does not say. */
  readonly sub: string | null;
}

/** The ledger's statement about an app, a family, a token and a grant at one time. */
export interface Liveness {
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  /** Null when not requested, or unknown. */
  readonly grant: GrantFacts | null;
}

/** The grant if it is active and belongs to this user, else null. */
export function findActiveGrant(liveness: Liveness, userId: string): GrantFacts | null {
  const { grant } = liveness;
  return grant !== null && grant.status === 'active' && grant.userId === userId ? grant : null;
}
