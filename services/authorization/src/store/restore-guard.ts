import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { type Database, TRANSACTION_LIMITS } from './database.ts';
import type { PrismaClient } from './generated/client.ts';

/** The schema with the tables of restores. */
export const RESTORE_SCHEMA = 'authorization';

/** Throws Unverified when the database has not been compared with the acknowledged changes. */
export async function requireVerified(database: Database, guard: RestoreGuard): Promise<void> {
  await guard.requireVerified((text, values) => database.$queryRawUnsafe(text, ...values));
}

/**
 * Runs `use` in a transaction on a verified database. Used for creating credentials, because a restore detected later would treat
 * credentials created before as older ones.
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

/** Whether an unconfirmed restore suspends a row with this number. */
export async function isSuspended(database: Database, restoreNumber: number): Promise<boolean> {
  const [row] = await database.$queryRaw<{ suspended: boolean }[]>`
    SELECT ${restoreNumber}::int < s.below AS suspended FROM suspension s`;
  return row?.suspended === true;
}
