import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPatientId } from '@phds/catalog/fhir/resource-types';
import { formatGrantedScopes, wantsPatient } from '@phds/catalog/fhir/words';
import {
  ACCESS_TOKEN_SECONDS,
  EXPIRED_TOKEN_MEMORY_SECONDS,
  REFRESH_TOKEN_SECONDS,
} from '@phds/catalog/lifetimes';
import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import { type GrantFacts, GrantStatus, type Liveness } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { batchingCalls } from '@phds/service-kit/batcher';
import { invalidRequest } from '@phds/service-kit/errors';
import { readStatement } from '@phds/service-kit/postgres/sql';
import { queryVerified, type RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import { type App, accessSecondsOf } from './app.ts';
import { CODE_MAX_FAILED_ATTEMPTS } from './authorization-request.ts';
import { type LivenessQuery, toDate } from './clients/consent.ts';
import type {
  App as AppRow,
  TokenFamily as FamilyRow,
  PrismaClient,
  AccessToken as TokenRow,
} from './store/generated/client.ts';
import { createGroupedChange, createLookUp, toHex, toJsonRecords } from './store/statements.ts';

/** Everything derived from one exchange of a code; reuse of a refresh token revokes it as a whole. */
export interface TokenFamily extends Omit<FamilyRow, 'scopes' | 'restoreNumber'> {
  readonly scopes: readonly Scope[];
  /** Milliseconds since `rotatedAt`, by the clock of the database. */
  readonly rotatedForMs: number | null;
  /** Whether the current refresh token was issued before an unconfirmed restore of the database. */
  readonly suspended: boolean;
}

/** A stored access token with the facts of its family and app. */
export interface AccessToken extends Omit<TokenRow, 'scopes' | 'restoreNumber'> {
  readonly scopes: readonly Scope[];
  readonly familyRevokedAt: Date | null;
  /** As in TokenFamily; none for an app's own token. */
  readonly askedWords: readonly string[];
  /** Whether it was issued before an unconfirmed restore of the database. */
  readonly suspended: boolean;
  readonly appStatus: AppRow['status'];
  readonly currentEpoch: number;
}

/** What the ledger is asked about an access token. */
export function toLivenessQuery({ hash, issuedAt, ...token }: AccessToken): LivenessQuery {
  const { clientId, appEpoch, grantId, familyId } = token;
  return {
    clientId,
    appEpoch,
    grantId: grantId ?? '',
    familyId: familyId ?? '',
    tokenHash: hash,
    issuedAt: timestampFromDate(issuedAt),
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
  return token.appStatus === 'active' && token.currentEpoch === token.appEpoch ? 'live' : 'dead';
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

/** Describes the scopes of a token that work now. `sub` is the person, empty for none. */
export function describeAccess(
  access: {
    readonly askedWords: readonly string[];
    readonly scopes: readonly Scope[];
    readonly sub: string;
  },
  { scopes: registered }: Pick<App, 'scopes'>,
  fhirBase: string,
) {
  const { askedWords, scopes, sub } = access;
  return {
    scope: formatGrantedScopes(askedWords, scopes, { base: fhirBase, registered }),
    patient: sub !== '' && wantsPatient(askedWords) ? toPatientId(sub) : '',
  };
}

/** Expiry of an access token issued now: never after the end of the grant, null for an app's own token. */
export function toAccessExpiry(app: App, now: Date, grant: GrantFacts | null): Date {
  const expiresAt = addSeconds(now, accessSecondsOf(app));
  return grant === null ? expiresAt : atMostUntilEnd(expiresAt, grant);
}

/** End of a family and its current refresh token when created or used now: never after the grant's end. */
export function toFamilyExpiry(now: Date, grant: GrantFacts): Date {
  return atMostUntilEnd(addSeconds(now, REFRESH_TOKEN_SECONDS), grant);
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

function atMostUntilEnd(time: Date, grant: GrantFacts): Date {
  const end = toDate(grant.expiresAt);
  return end < time ? end : time;
}

/** The grant if it is active and belongs to this user, else null. */
export function findActiveGrant({ grant }: Liveness, userId: string): GrantFacts | null {
  return grant?.status === GrantStatus.ACTIVE && grant.userId === userId ? grant : null;
}

const HASH_BYTES = 32;

/** A SHA-256. Throws `invalid_request` for a wrong length. */
export function parseTokenHash(hash: Uint8Array): Uint8Array {
  if (hash.length !== HASH_BYTES) throw invalidRequest('token_hash', `must have ${HASH_BYTES} bytes`);
  return hash;
}

const EXCHANGE = readStatement(new URL('store/sql/exchange-codes.sql', import.meta.url));
const FIND_FAMILY = readStatement(new URL('store/sql/find-family.sql', import.meta.url));
const ROTATE = readStatement(new URL('store/sql/rotate-families.sql', import.meta.url));
const FIND_ACCESS = readStatement(new URL('store/sql/find-access-token.sql', import.meta.url));
const INSERT_OWN = readStatement(new URL('store/sql/insert-own-tokens.sql', import.meta.url));

/** A token of an app itself, to store. */
type NewAccessToken = Pick<
  AccessToken,
  'hash' | 'clientId' | 'scopes' | 'jkt' | 'appEpoch' | 'issuedAt' | 'expiresAt'
>;

/** The result of one exchange of a code. The tokens have the code's app and epoch. */
export interface Exchange {
  readonly codeHash: Uint8Array;
  readonly scopes: readonly Scope[];
  readonly familyId: string;
  readonly familyExpiresAt: Date;
  readonly accessHash: Uint8Array;
  readonly accessExpiresAt: Date;
  readonly jkt: string | null;
  /** As in TokenFamily. */
  readonly familyJkt: string | null;
  readonly refreshHash: Uint8Array;
  readonly now: Date;
}

/** An access token for the use of a refresh token, and its family afterwards. */
export interface Rotation extends Pick<TokenFamily, 'generation' | 'scopes'> {
  readonly refreshHash: Uint8Array;
  readonly familyId: string;
  /** That at which the use has found the family. */
  readonly seenGeneration: number;
  readonly familyExpiresAt: Date;
  /** The requested scope, see `TokenFamily.rotatedScope`. */
  readonly scope: string;
  readonly accessHash: Uint8Array;
  readonly accessScopes: readonly Scope[];
  readonly accessExpiresAt: Date;
  readonly jkt: string | null;
  readonly now: Date;
}

export type TokenStore = ReturnType<typeof createTokenStore>;

/** Token families and access tokens in Postgres. What changes codes or tokens returns after its commit, which also proves it. */
export function createTokenStore(pool: pg.Pool, prisma: PrismaClient, guard: RestoreGuard) {
  return {
    /**
     * Consumes a code and stores the result of its exchange in one transaction. Returns false without any effect when the code is
     * used, expired or invalidated, or its app is not active in the code's epoch. Of concurrent calls one wins.
     */
    exchange: createGroupedChange({
      pool,
      guard,
      statement: EXCHANGE,
      keyOf: ({ codeHash }: Exchange) => toHex(codeHash),
      constants: { maxFailedAttempts: CODE_MAX_FAILED_ATTEMPTS },
    }),

    findFamily: createLookUp({
      pool,
      guard,
      statement: FIND_FAMILY,
      keyOf: ({ id }: TokenFamily) => id,
    }),

    /**
     * Stores an access token of a family and its next generation, or for a repeated use the same one. Returns false without any effect when
     * the family is at another generation than was seen, or expired, suspended, revoked or erased. Of concurrent first uses one wins.
     */
    rotate: createGroupedChange({
      pool,
      guard,
      statement: ROTATE,
      keyOf: ({ familyId }: Rotation) => familyId,
      constants: {},
    }),

    /** Records a revocation that the ledger has; idempotent. */
    async markFamilyRevoked(familyId: string, now: Date): Promise<void> {
      const where = { id: familyId, revokedAt: null };
      await prisma.tokenFamily.updateMany({ where, data: { revokedAt: now } });
    },

    /** Finds a token with the facts of its family and app in one look-up. */
    findAccessToken: createLookUp({
      pool,
      guard,
      statement: FIND_ACCESS,
      keyOf: ({ hash }: AccessToken): Uint8Array => hash,
    }),

    /** Stores an app's own token. Returns false when the app is not active in that epoch. */
    insertOwnToken: createOwnTokenInsert(pool, guard),

    /** Records a revocation that the ledger has; idempotent. */
    async markTokenRevoked(hash: AccessToken['hash'], now: Date): Promise<void> {
      const where = { hash, revokedAt: null };
      await prisma.accessToken.updateMany({ where, data: { revokedAt: now } });
    },
  };
}

function createOwnTokenInsert(
  pool: pg.Pool,
  guard: RestoreGuard,
): (token: NewAccessToken) => Promise<boolean> {
  return batchingCalls(
    (tokens: readonly NewAccessToken[]) =>
      guard.verified(async () => {
        const values = [toJsonRecords(tokens)];
        const rows = await queryVerified<{ stored: boolean }>(pool, guard, INSERT_OWN, values);
        return rows.map(({ stored }) => stored);
      }),
    { keyOf: ({ clientId }) => clientId, slowMs: 50, maxSlow: 2 },
  );
}
