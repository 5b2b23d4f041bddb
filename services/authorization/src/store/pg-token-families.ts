import { isScope } from '@phds/catalog/scopes';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/witness';
import type pg from 'pg';
import type { Exchange, Rotation, TokenStore } from '../app/ports.ts';
import { CODE_MAX_FAILED_ATTEMPTS } from '../domain/code.ts';
import { KEPT_GENERATIONS, type RefreshToken } from '../domain/token.ts';
import { createGroupedChange } from './grouped-change.ts';
import { toHex } from './json-records.ts';
import { createLookUp } from './look-up.ts';

interface Row {
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
}

const EXCHANGE = readStatement(new URL('sql/exchange-codes.sql', import.meta.url));
const FIND = readStatement(new URL('sql/find-refresh-token.sql', import.meta.url));
const ROTATE = readStatement(new URL('sql/rotate-refresh-tokens.sql', import.meta.url));
const MARK_REVOKED = readStatement(new URL('sql/mark-family-revoked.sql', import.meta.url));

/** Token families and their refresh tokens in Postgres. */
export function createPgTokenFamilies(
  pool: pg.Pool,
  guard: RestoreGuard,
): Pick<
  TokenStore,
  'exchange' | 'findRefreshToken' | 'findAnyRefreshToken' | 'rotate' | 'markFamilyRevoked'
> {
  return translatingErrors({
    exchange: createGroupedChange({
      pool,
      guard,
      statement: EXCHANGE,
      keyOf: ({ codeHash }: Exchange) => toHex(codeHash),
      constants: { maxFailedAttempts: CODE_MAX_FAILED_ATTEMPTS },
    }),

    findRefreshToken: createLookUp({ pool, guard, statement: FIND, keyOf: ({ hash }: Row) => hash, fromRow }),

    async findAnyRefreshToken(hashes) {
      const [row] = await guard.verified(() => queryVerified<Row>(pool, guard, FIND, [hashes]));
      return row === undefined ? null : fromRow(row);
    },

    rotate: createGroupedChange({
      pool,
      guard,
      statement: ROTATE,
      keyOf: ({ familyId }: Rotation) => familyId,
      constants: { keptGenerations: KEPT_GENERATIONS },
    }),

    async markFamilyRevoked(familyId, now) {
      await pool.query({ ...MARK_REVOKED, values: [familyId, now] });
    },
  });
}

function fromRow(row: Row): RefreshToken {
  const { hash, issuedAt, expiresAt, usedForMs, rotatedScope, successorUsed, suspended } = row;
  const { familyId, clientId, userId, grantId, appEpoch, familyExpiresAt, familyRevokedAt } = row;
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
