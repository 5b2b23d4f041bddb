import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';

/** The schema of the restore tables, where the service can only insert. */
export const RESTORE_SCHEMA = 'consent_audit';

/** Throws Unverified when the database has not been compared with the acknowledged changes. */
export async function requireVerified(
  tx: pg.ClientBase,
  guard: Pick<RestoreGuard, 'requireVerified'>,
): Promise<void> {
  await guard.requireVerified(async (text, values) => (await tx.query(text, [...values])).rows);
}
