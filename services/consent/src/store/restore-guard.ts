import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import type { Prisma } from './generated/client.ts';

/** Where the tables of restores are: the service may add to them and take nothing back. */
export const RESTORE_SCHEMA = 'consent_audit';

/** Throws Unverified when the database has not been compared with what was acknowledged. */
export async function requireVerified(
  tx: Prisma.TransactionClient,
  guard: Pick<RestoreGuard, 'requireVerified'>,
): Promise<void> {
  await guard.requireVerified((text, values) => tx.$queryRawUnsafe(text, ...values));
}
