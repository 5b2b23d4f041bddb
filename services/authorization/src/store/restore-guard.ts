import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { type Database, TRANSACTION_LIMITS } from './database.ts';
import type { PrismaClient } from './generated/client.ts';

/** The schema with the tables of restores. */
export const RESTORE_SCHEMA = 'authorization';

/** Throws Unverified when the database has not been compared with what was acknowledged. */
export async function requireVerified(database: Database, guard: RestoreGuard): Promise<void> {
  await guard.requireVerified((text, values) => database.$queryRawUnsafe(text, ...values));
}

/**
 * Runs `use` in a transaction on a verified database: for what makes a credential, so that none is made which a restore that is
 * noticed later takes for an older one.
 */
export function inVerified<T>(
  prisma: PrismaClient,
  guard: RestoreGuard,
  use: (tx: Database) => Promise<T>,
): Promise<T> {
  return guard.verified(() =>
    prisma.$transaction(async (tx) => {
      await requireVerified(tx, guard);
      return use(tx);
    }, TRANSACTION_LIMITS),
  );
}

/** Whether a restore that nobody has confirmed suspends a row with that number. */
export async function isSuspended(database: Database, restoreNumber: number): Promise<boolean> {
  const [row] = await database.$queryRaw<{ suspended: boolean }[]>`
    SELECT ${restoreNumber}::int < s.below AS suspended FROM suspension s`;
  return row?.suspended === true;
}
