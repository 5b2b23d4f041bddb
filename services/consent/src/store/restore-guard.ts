import { type RestoreGuard, startRestoreGuard } from '@phds/service-kit/restore-guard';
import { isUnverified } from '@phds/service-kit/restore-witness';
import type pg from 'pg';
import type { Prisma } from './generated/client.ts';

/** Where the tables of restores are: the service may add to them and take nothing back. */
const SCHEMA = 'consent_audit';

type Log = Parameters<typeof startRestoreGuard>[0]['log'];

/** Watches the ledger's database. On the pool that nothing else can hold up: no revocation is acknowledged without it. */
export function openRestoreGuard(
  pool: pg.Pool,
  config: { readonly RESTORE_CHECK_INTERVAL_MS: number; readonly FAILOVER_GRACE_MS: number },
  log: Log,
): Promise<RestoreGuard> {
  const { RESTORE_CHECK_INTERVAL_MS: intervalMs, FAILOVER_GRACE_MS: graceMs } = config;
  return startRestoreGuard({ pool, schema: SCHEMA, intervalMs, graceMs, log });
}

/** SQL: whether the database in view `consent_audit.suspension s` is unverified, by the parameters of a Witness. */
export function unverifiedBy(id: string, position: string): string {
  return isUnverified(SCHEMA, id, position);
}

/** Throws Unverified when the database has not been compared with what was acknowledged. */
export async function requireVerified(
  tx: Prisma.TransactionClient,
  guard: Pick<RestoreGuard, 'requireVerified'>,
): Promise<void> {
  await guard.requireVerified((text, values) => tx.$queryRawUnsafe(text, ...values));
}
