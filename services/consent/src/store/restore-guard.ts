import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { isUnverified } from '@phds/service-kit/restore-witness';
import type { Prisma } from './generated/client.ts';

/** Where the tables of restores are: the service may add to them and take nothing back. */
export const RESTORE_SCHEMA = 'consent_audit';

/** SQL: whether the database in view `consent_audit.suspension s` is unverified, by the parameters of a Witness. */
export function unverifiedBy(id: string, position: string): string {
  return isUnverified(RESTORE_SCHEMA, id, position);
}

/** Throws Unverified when the database has not been compared with what was acknowledged. */
export async function requireVerified(
  tx: Prisma.TransactionClient,
  guard: Pick<RestoreGuard, 'requireVerified'>,
): Promise<void> {
  await guard.requireVerified((text, values) => tx.$queryRawUnsafe(text, ...values));
}
