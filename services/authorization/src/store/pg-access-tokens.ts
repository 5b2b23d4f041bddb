import { isScope } from '@phds/catalog/scopes';
import { batchingCalls } from '@phds/service-kit/batcher';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/witness';
import type pg from 'pg';
import type { NewAccessToken, TokenStore } from '../app/ports.ts';
import type { AppStatus } from '../domain/app.ts';
import type { AccessToken } from '../domain/token.ts';
import { toJsonRecords } from './json-records.ts';
import { createLookUp } from './look-up.ts';

interface Row {
  readonly hash: Buffer;
  readonly client_id: string;
  readonly user_id: string | null;
  readonly grant_id: string | null;
  readonly family_id: string | null;
  readonly scopes: string[];
  readonly app_epoch: number;
  readonly issued_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly family_revoked_at: Date | null;
  readonly status: AppStatus;
  readonly epoch: number;
  readonly suspended: boolean;
}

const FIND = readStatement(new URL('sql/find-access-token.sql', import.meta.url));
const INSERT_OWN = readStatement(new URL('sql/insert-own-tokens.sql', import.meta.url));
const MARK_REVOKED = readStatement(new URL('sql/mark-token-revoked.sql', import.meta.url));

/** Access tokens in Postgres. */
export function createPgAccessTokens(
  pool: pg.Pool,
  guard: RestoreGuard,
): Pick<TokenStore, 'findAccessToken' | 'insertOwnToken' | 'markTokenRevoked'> {
  return translatingErrors({
    findAccessToken: createLookUp({ pool, guard, statement: FIND, keyOf: ({ hash }: Row) => hash, fromRow }),

    insertOwnToken: batchingCalls(
      (tokens: readonly NewAccessToken[]) =>
        guard.verified(async () => {
          const values = [toJsonRecords(tokens)];
          const rows = await queryVerified<{ stored: boolean }>(pool, guard, INSERT_OWN, values);
          return rows.map(({ stored }) => stored);
        }),
      { keyOf: ({ clientId }) => clientId, slowMs: 50, maxSlow: 2 },
    ),

    async markTokenRevoked(hash, now) {
      await pool.query({ ...MARK_REVOKED, values: [hash, now] });
    },
  });
}

function fromRow(row: Row): AccessToken {
  return {
    hash: row.hash,
    clientId: row.client_id,
    userId: row.user_id,
    grantId: row.grant_id,
    familyId: row.family_id,
    scopes: row.scopes.filter(isScope),
    appEpoch: row.app_epoch,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    familyRevokedAt: row.family_revoked_at,
    suspended: row.suspended,
    app: { status: row.status, epoch: row.epoch },
  };
}
