import { isScope } from '@phds/catalog/scopes';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { Unverified } from '@phds/service-kit/restore-witness';
import { readStatement } from '@phds/service-kit/statement';
import type pg from 'pg';
import type { TokenStore } from '../app/ports.ts';
import type { AppStatus } from '../domain/app.ts';
import type { AccessToken } from '../domain/token.ts';

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
  readonly unverified: boolean;
}

const FIND_ACCESS_TOKEN = readStatement(new URL('sql/find-access-token.sql', import.meta.url));

/** The look-up of every introspection: a prepared statement, at two fifths of Prisma's cost. */
export function createPgAccessTokens(
  pool: pg.Pool,
  guard: RestoreGuard,
): Pick<TokenStore, 'findAccessToken'> {
  return translatingErrors({
    findAccessToken: (hash) =>
      guard.verified(async () => {
        const values = [hash, ...guard.witness];
        const { rows } = await pool.query<Row>({ ...FIND_ACCESS_TOKEN, values });
        const [row] = rows;
        if (row?.unverified === true) throw new Unverified();
        return row === undefined ? null : fromRow(row);
      }),
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
