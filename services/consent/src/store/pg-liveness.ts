import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { Unverified } from '@phds/service-kit/restore-witness';
import { readStatement } from '@phds/service-kit/statement';
import type pg from 'pg';
import type { LivenessStore } from '../app/ports.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import type { GrantRow } from './grant-rows.ts';

const CHECK = readStatement(new URL('sql/check-liveness.sql', import.meta.url));

interface LivenessRow extends Pick<GrantRow, 'userId' | 'scopes' | 'expiresAt' | 'dataFrom' | 'status'> {
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  readonly suspended: boolean;
  readonly unverified: boolean;
  readonly id: string | null;
}

/** Used by every introspection, exchange and refresh: one prepared statement, one snapshot. */
export function createPgLiveness(pool: pg.Pool, guard: RestoreGuard): LivenessStore {
  return translatingErrors({ check: (query) => guard.verified(() => check(pool, guard, query)) });
}

async function check(
  pool: pg.Pool,
  { witness }: RestoreGuard,
  { clientId, appEpoch, grantId, familyId, tokenHash, issuedAt }: LivenessQuery,
): Promise<Liveness> {
  const values = [clientId, appEpoch, grantId, familyId, Buffer.from(tokenHash), issuedAt, ...witness];
  const { rows } = await pool.query<LivenessRow>({ ...CHECK, values });
  const [row] = rows;
  if (row === undefined) throw new Error('the liveness query returned no row');
  if (row.unverified) throw new Unverified();
  const { appAlive, familyAlive, tokenAlive, scopes, expiresAt, userId, dataFrom } = row;
  const status = row.suspended ? 'revoked' : row.status;
  const grant = row.id === null ? null : { status, scopes, expiresAt, userId, dataFrom };
  return { appAlive, familyAlive, tokenAlive, grant };
}
