import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type { Prisma } from './generated/client.ts';

/** The schema of the restore tables, where the service can only insert. */
export const RESTORE_SCHEMA = 'consent_audit';

/** Throws Unverified when the database has not been compared with the acknowledged changes. */
export async function requireVerified(
  tx: Prisma.TransactionClient,
  guard: Pick<RestoreGuard, 'requireVerified'>,
): Promise<void> {
  await guard.requireVerified((text, values) => tx.$queryRawUnsafe(text, ...values));
}
