import { isScope } from '@phds/catalog/scopes';
import { inTransaction, requireTimeLeft } from '@phds/service-kit/postgres-client';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { queryVerified } from '@phds/service-kit/restore-witness';
import { readStatement } from '@phds/service-kit/statement';
import type pg from 'pg';
import type { TokenStore } from '../app/ports.ts';
import { CODE_MAX_FAILED_ATTEMPTS } from '../domain/code.ts';
import { KEPT_GENERATIONS, type RefreshToken } from '../domain/token.ts';
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

const EXCHANGE = readStatement(new URL('sql/exchange-code.sql', import.meta.url));
const FIND = readStatement(new URL('sql/find-refresh-token.sql', import.meta.url));
const ROTATE = readStatement(new URL('sql/rotate-refresh-token.sql', import.meta.url));
const MARK_REVOKED = readStatement(new URL('sql/mark-family-revoked.sql', import.meta.url));

/**
 * Minimum remaining time of the caller, in milliseconds, when a code or a refresh token is used: for the commit and for two shared
 * proofs of it, the current one and the next (RestoreGuard.acknowledge). Together they take a few milliseconds; a quarter of the
 * gateway's 2 s is reserved for a slow disk or standby.
 */
const USE_MARGIN_MS = 500;

/** Token families and their refresh tokens in Postgres. */
export function createPgTokenFamilies(
  pool: pg.Pool,
  guard: RestoreGuard,
): Pick<
  TokenStore,
  'exchange' | 'findRefreshToken' | 'findAnyRefreshToken' | 'rotate' | 'markFamilyRevoked'
> {
  return translatingErrors({
    async exchange({ codeHash, scopes, family, access, refreshHash, now }) {
      // The response waits for a proof, and a retry after a late response is a replay. Therefore anything that delays proofs must
      // delay the exchange before it consumes the code, where the caller's deadline ends it.
      await guard.acknowledge();
      const values = [
        codeHash,
        now,
        CODE_MAX_FAILED_ATTEMPTS,
        family.id,
        family.expiresAt,
        refreshHash,
        access.hash,
        access.expiresAt,
        scopes,
      ];
      return guard.verified(() =>
        // In a transaction, because a statement on its own would commit even if it waited too long for the code's row.
        inTransaction(pool, async (client) => {
          const [row] = await queryVerified<{ exchanged: boolean }>(client, guard, EXCHANGE, values);
          requireTimeLeft(USE_MARGIN_MS);
          return row?.exchanged === true;
        }),
      );
    },

    findRefreshToken: createLookUp({ pool, guard, statement: FIND, keyOf: ({ hash }: Row) => hash, fromRow }),

    async findAnyRefreshToken(hashes) {
      const [row] = await guard.verified(() => queryVerified<Row>(pool, guard, FIND, [hashes]));
      return row === undefined ? null : fromRow(row);
    },

    rotate: ({ token, access, successor, familyExpiresAt, scope, now }) =>
      guard.verified(async () => {
        const { hash, scopes, expiresAt } = access;
        const uses = [token.hash, token.family.id, now, scope, successor.hash, familyExpiresAt];
        const values = [...uses, hash, scopes, expiresAt, successor.scopes, KEPT_GENERATIONS];
        // A statement on its own commits when it ends, so the time is checked before it. A statement that waits for the family's row
        // until the caller gives up is cancelled.
        requireTimeLeft(USE_MARGIN_MS);
        const [row] = await queryVerified<{ rotated: boolean }>(pool, guard, ROTATE, values);
        return row?.rotated === true;
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
