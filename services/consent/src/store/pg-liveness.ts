import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { Unverified } from '@phds/service-kit/restore-witness';
import type pg from 'pg';
import type { LivenessStore } from '../app/ports.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import { GRANT_COLUMNS, type GrantRow } from './grant-rows.ts';
import { unverifiedBy } from './restore-guard.ts';

const CHECK = `
  SELECT coalesce(a.status = 'active' AND a.epoch = $2, false) AS "appAlive",
    NOT EXISTS (SELECT FROM revoked_family WHERE family_id = $4) AS "familyAlive",
    NOT EXISTS (SELECT FROM revoked_token WHERE token_hash = $5)
      AND ($6::timestamptz > s.until) IS NOT FALSE AS "tokenAlive",
    coalesce(g.restore_number < s.below, false) AS suspended,
    coalesce(${unverifiedBy('$7', '$8')}, false) AS unverified,
    ${GRANT_COLUMNS}
  FROM (VALUES ($1::text, $3::text)) AS asked(client_id, grant_id)
  LEFT JOIN consent_audit.suspension s ON true
  LEFT JOIN app a ON a.client_id = asked.client_id
  LEFT JOIN consent_grant g ON g.id = asked.grant_id AND g.client_id = asked.client_id
  LEFT JOIN app_epoch e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1`;

interface LivenessRow extends Omit<GrantRow, 'id'> {
  readonly appAlive: boolean;
  readonly familyAlive: boolean;
  readonly tokenAlive: boolean;
  readonly suspended: boolean;
  readonly unverified: boolean;
  readonly id: string | null;
}

/** Asked at every introspection, exchange and refresh: one prepared statement, one snapshot. */
export function createPgLiveness(pool: pg.Pool, guard: RestoreGuard): LivenessStore {
  return translatingErrors({ check: (query) => guard.verified(() => check(pool, guard, query)) });
}

async function check(
  pool: pg.Pool,
  { witness }: RestoreGuard,
  { clientId, appEpoch, grantId, familyId, tokenHash, issuedAt }: LivenessQuery,
): Promise<Liveness> {
  const values = [clientId, appEpoch, grantId, familyId, Buffer.from(tokenHash), issuedAt, ...witness];
  const { rows } = await pool.query<LivenessRow>({ name: 'liveness', text: CHECK, values });
  const [row] = rows;
  if (row === undefined) throw new Error('the ledger always answers a row');
  if (row.unverified) throw new Unverified();
  const { appAlive, familyAlive, tokenAlive, scopes, expiresAt, userId, dataFrom } = row;
  const status = row.suspended ? 'revoked' : row.status;
  const grant = row.id === null ? null : { status, scopes, expiresAt, userId, dataFrom };
  return { appAlive, familyAlive, tokenAlive, grant };
}
