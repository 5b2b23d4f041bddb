import type pg from 'pg';

type Say = (details: object, text: string) => void;

export interface RestoreGuardOptions {
  readonly pool: pg.Pool;
  /** The schema of the restore tables. */
  readonly schema: string;
  /** How often to check the database, and how long other instances have to confirm that a new one has all their changes. */
  readonly config: { readonly RESTORE_CHECK_INTERVAL_MS: number; readonly FAILOVER_GRACE_MS: number };
  readonly log: { readonly error: Say; readonly warn: Say };
  /** Receives the error of a failed check; the next one tries again. */
  readonly onFailure: (error: unknown) => void;
  /**
   * Called when what was written last may be missing: at the first failed check of an outage, at the first successful check after it,
   * and when the database was replaced.
   */
  readonly onPossibleLoss?: () => void;
}
