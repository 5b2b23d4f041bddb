import { isScope } from '@phds/catalog/scopes';
import { batchingCalls } from '@phds/service-kit/batcher';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/verified-query';
import type pg from 'pg';
import type { Exchange, NewAccessToken, Rotation, TokenStore } from '../app/ports.ts';
import type { AppStatus } from '../domain/app.ts';
import { CODE_MAX_FAILED_ATTEMPTS } from '../domain/authorization-request.ts';
import type { AccessToken, TokenFamily } from '../domain/token.ts';
import { createGroupedChange, createLookUp, toHex, toJsonRecords } from './statements.ts';

const EXCHANGE = readStatement(new URL('sql/exchange-codes.sql', import.meta.url));
const FIND_FAMILY = readStatement(new URL('sql/find-family.sql', import.meta.url));
const ROTATE = readStatement(new URL('sql/rotate-families.sql', import.meta.url));
const MARK_FAMILY_REVOKED = readStatement(new URL('sql/mark-family-revoked.sql', import.meta.url));
const FIND_ACCESS = readStatement(new URL('sql/find-access-token.sql', import.meta.url));
const INSERT_OWN = readStatement(new URL('sql/insert-own-tokens.sql', import.meta.url));
const MARK_TOKEN_REVOKED = readStatement(new URL('sql/mark-token-revoked.sql', import.meta.url));

/** Token families and access tokens in Postgres. */
export function createPgTokens(pool: pg.Pool, guard: RestoreGuard): TokenStore {
  return translatingErrors({
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
      keyOf: ({ id }: FamilyRow) => id,
      fromRow: fromFamilyRow,
    }),

    rotate: createGroupedChange({
      pool,
      guard,
      statement: ROTATE,
      keyOf: ({ familyId }: Rotation) => familyId,
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

type FamilyRow = TokenFamily & { readonly unverified: boolean };

function fromFamilyRow({ unverified: _unverified, ...row }: FamilyRow): TokenFamily {
  return { ...row, scopes: row.scopes.filter(isScope) };
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
