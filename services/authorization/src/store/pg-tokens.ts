import { isScope } from '@phds/catalog/scopes';
import { batchingCalls } from '@phds/service-kit/batcher';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/verified-query';
import type pg from 'pg';
import type { Exchange, NewAccessToken, Renewal, Rotation, TokenStore } from '../app/ports.ts';
import type { AppStatus } from '../domain/app.ts';
import { CODE_MAX_FAILED_ATTEMPTS } from '../domain/authorization-request.ts';
import { type AccessToken, KEPT_GENERATIONS, type RefreshToken } from '../domain/token.ts';
import { createGroupedChange, createLookUp, toHex, toJsonRecords } from './statements.ts';

const EXCHANGE = readStatement(new URL('sql/exchange-codes.sql', import.meta.url));
const FIND_REFRESH = readStatement(new URL('sql/find-refresh-token.sql', import.meta.url));
const ROTATE = readStatement(new URL('sql/rotate-refresh-tokens.sql', import.meta.url));
const RENEW = readStatement(new URL('sql/renew-access-tokens.sql', import.meta.url));
const MARK_FAMILY_REVOKED = readStatement(new URL('sql/mark-family-revoked.sql', import.meta.url));
const FIND_ACCESS = readStatement(new URL('sql/find-access-token.sql', import.meta.url));
const INSERT_OWN = readStatement(new URL('sql/insert-own-tokens.sql', import.meta.url));
const MARK_TOKEN_REVOKED = readStatement(new URL('sql/mark-token-revoked.sql', import.meta.url));

/** Token families with their refresh tokens and access tokens in Postgres. */
export function createPgTokens(pool: pg.Pool, guard: RestoreGuard): TokenStore {
  return translatingErrors({
    exchange: createGroupedChange({
      pool,
      guard,
      statement: EXCHANGE,
      keyOf: ({ codeHash }: Exchange) => toHex(codeHash),
      constants: { maxFailedAttempts: CODE_MAX_FAILED_ATTEMPTS },
    }),

    findRefreshToken: createLookUp({
      pool,
      guard,
      statement: FIND_REFRESH,
      keyOf: ({ hash }: RefreshRow) => hash,
      fromRow: fromRefreshRow,
    }),

    async findAnyRefreshToken(hashes) {
      const [row] = await guard.verified(() =>
        queryVerified<RefreshRow>(pool, guard, FIND_REFRESH, [hashes]),
      );
      return row === undefined ? null : fromRefreshRow(row);
    },

    rotate: createGroupedChange({
      pool,
      guard,
      statement: ROTATE,
      keyOf: ({ familyId }: Rotation) => familyId,
      constants: { keptGenerations: KEPT_GENERATIONS },
    }),

    renew: createGroupedChange({
      pool,
      guard,
      statement: RENEW,
      keyOf: ({ familyId }: Renewal) => familyId,
      constants: {},
    }),

    async markFamilyRevoked(familyId, now) {
      await pool.query({ ...MARK_FAMILY_REVOKED, values: [familyId, now] });
    },

    findAccessToken: createLookUp({
      pool,
      guard,
      statement: FIND_ACCESS,
      keyOf: ({ hash }: AccessRow) => hash,
      fromRow: fromAccessRow,
    }),

    insertOwnToken: createOwnTokenInsert(pool, guard),

    async markTokenRevoked(hash, now) {
      await pool.query({ ...MARK_TOKEN_REVOKED, values: [hash, now] });
    },
  });
}

function createOwnTokenInsert(pool: pg.Pool, guard: RestoreGuard): TokenStore['insertOwnToken'] {
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

interface RefreshRow {
  readonly hash: Buffer;
  readonly scopes: string[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly usedForMs: number | null;
  readonly rotatedScope: string | null;
  readonly successorUsed: boolean;
  readonly suspended: boolean;
  readonly familyId: string;
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly appEpoch: number;
  readonly familyExpiresAt: Date;
  readonly familyRevokedAt: Date | null;
  readonly familyIsBound: boolean;
  readonly familyJkt: string | null;
  readonly askedWords: string[];
  readonly grows: boolean;
}

function fromRefreshRow(row: RefreshRow): RefreshToken {
  const { hash, issuedAt, expiresAt, usedForMs, rotatedScope, successorUsed, suspended } = row;
  const {
    familyId,
    clientId,
    userId,
    grantId,
    appEpoch,
    familyExpiresAt,
    familyRevokedAt,
    familyIsBound: isBound,
    familyJkt: jkt,
    askedWords,
    grows,
  } = row;
  return {
    hash,
    family: {
      id: familyId,
      clientId,
      userId,
      grantId,
      appEpoch,
      expiresAt: familyExpiresAt,
      revokedAt: familyRevokedAt,
      isBound,
      jkt,
      askedWords,
      grows,
    },
    scopes: row.scopes.filter(isScope),
    issuedAt,
    expiresAt,
    usedForMs,
    rotatedScope,
    successorUsed,
    suspended,
  };
}

interface AccessRow {
  readonly hash: Buffer;
  readonly client_id: string;
  readonly user_id: string | null;
  readonly grant_id: string | null;
  readonly family_id: string | null;
  readonly scopes: string[];
  readonly jkt: string | null;
  readonly app_epoch: number;
  readonly issued_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly family_revoked_at: Date | null;
  readonly asked_words: string[] | null;
  readonly status: AppStatus;
  readonly epoch: number;
  readonly suspended: boolean;
}

function fromAccessRow(row: AccessRow): AccessToken {
  return {
    hash: row.hash,
    clientId: row.client_id,
    userId: row.user_id,
    grantId: row.grant_id,
    familyId: row.family_id,
    scopes: row.scopes.filter(isScope),
    jkt: row.jkt,
    appEpoch: row.app_epoch,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    familyRevokedAt: row.family_revoked_at,
    askedWords: row.asked_words ?? [],
    suspended: row.suspended,
    app: { status: row.status, epoch: row.epoch },
  };
}
