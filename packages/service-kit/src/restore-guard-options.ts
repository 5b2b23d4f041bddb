import type pg from 'pg';

type Say = (details: object, text: string) => void;

export interface RestoreGuardOptions {
  readonly pool: pg.Pool;
  /** The schema of the restore tables. */
  readonly schema: string;
  /** How often to check the database, and how long other instances have to confirm that a new one has all their changes. */
  readonly config: { readonly RESTORE_CHECK_INTERVAL_MS: number; readonly FAILOVER_GRACE_MS: number };
  readonly log: { readonly error: Say; readonly warn: Say };
  /** Called after the database did not answer, and when it was replaced: what was written last may be missing. */
  readonly onInterruption?: () => void;
}
