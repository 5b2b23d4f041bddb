import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { isUnverified } from '@phds/service-kit/restore-witness';
import { type Database, TRANSACTION_LIMITS } from './database.ts';
import type { PrismaClient } from './generated/client.ts';

/** The schema with the tables of restores. */
export const RESTORE_SCHEMA = 'authorization';

/**
 * SQL, for a row that carries the number of a restore: whether a restore that nobody has confirmed suspends it, and whether nobody
 * has judged the database yet, by the parameters of a Witness.
 */
export function suspensionOf(column: string, id: string, position: string): string {
  return `coalesce(${column} < s.below, false) AS suspended,
    coalesce(${isUnverified(RESTORE_SCHEMA, id, position)}, false) AS unverified`;
}

/** SQL: the one row that suspensionOf reads, for the end of a FROM clause. */
export const JOIN_SUSPENSION = 'LEFT JOIN suspension s ON true';

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
