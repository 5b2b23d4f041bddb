import type { Scope } from '@phds/catalog/scopes';
import { batchingCalls } from '@phds/service-kit/batcher';
import { readStatement } from '@phds/service-kit/postgres/sql';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import { CODE_MAX_FAILED_ATTEMPTS } from '../authorization-request.ts';
import type { AccessToken, TokenFamily } from '../token.ts';
import { createGroupedChange, createLookUp, toHex, toJsonRecords } from './statements.ts';

const EXCHANGE = readStatement(new URL('sql/exchange-codes.sql', import.meta.url));
const FIND_FAMILY = readStatement(new URL('sql/find-family.sql', import.meta.url));
const ROTATE = readStatement(new URL('sql/rotate-families.sql', import.meta.url));
const MARK_FAMILY_REVOKED = readStatement(new URL('sql/mark-family-revoked.sql', import.meta.url));
const FIND_ACCESS = readStatement(new URL('sql/find-access-token.sql', import.meta.url));
const INSERT_OWN = readStatement(new URL('sql/insert-own-tokens.sql', import.meta.url));
const MARK_TOKEN_REVOKED = readStatement(new URL('sql/mark-token-revoked.sql', import.meta.url));

/** A token of an app itself, to store. */
export type NewAccessToken = Pick<
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

export type TokenStore = ReturnType<typeof createPgTokens>;

/** Token families and access tokens in Postgres. What changes codes or tokens returns after its commit, which also proves it. */
export function createPgTokens(pool: pg.Pool, guard: RestoreGuard) {
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
      await pool.query({ ...MARK_FAMILY_REVOKED, values: [familyId, now] });
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
    async markTokenRevoked(hash: Uint8Array, now: Date): Promise<void> {
      await pool.query({ ...MARK_TOKEN_REVOKED, values: [hash, now] });
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
