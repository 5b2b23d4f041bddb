import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/verified-query';
import type pg from 'pg';
import type { LivenessStore } from '../app/ports.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import type { GrantRow } from './grant-rows.ts';
import { toSub } from './subs.ts';

const CHECK = readStatement(new URL('sql/check-liveness.sql', import.meta.url));

interface LivenessRow
  extends Pick<GrantRow, 'userId' | 'scopes' | 'expiresAt' | 'dataFrom' | 'status' | 'subHash'> {
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  readonly suspended: boolean;
  readonly id: string | null;
}

/**
 * Used by every introspection, exchange and refresh: one prepared statement, one snapshot. Questions at the same time share
 * statements, none of which began before they were asked.
 */
export function createPgLiveness(pool: pg.Pool, guard: RestoreGuard): LivenessStore {
  const check = (queries: readonly LivenessQuery[]) => guard.verified(() => checkAll(pool, guard, queries));
  return translatingErrors({ check: batchingCalls(check, SHORT_READS) });
}

async function checkAll(
  pool: pg.Pool,
  guard: RestoreGuard,
  queries: readonly LivenessQuery[],
): Promise<Liveness[]> {
  const columns = [
    queries.map(({ clientId }) => clientId),
    queries.map(({ appEpoch }) => appEpoch),
    queries.map(({ grantId }) => grantId),
    queries.map(({ familyId }) => familyId),
    queries.map(({ tokenHash }) => Buffer.from(tokenHash)),
    queries.map(({ issuedAt }) => issuedAt),
  ];
  return (await queryVerified<LivenessRow>(pool, guard, CHECK, columns)).map(fromRow);
}

function fromRow(row: LivenessRow): Liveness {
  const { appAlive, familyAlive, tokenAlive, scopes, expiresAt, userId, dataFrom } = row;
  const status = row.suspended ? 'revoked' : row.status;
  const grant =
    row.id === null ? null : { status, scopes, expiresAt, userId, dataFrom, sub: toSub(row.subHash) };
  return { appAlive, familyAlive, tokenAlive, grant };
}
