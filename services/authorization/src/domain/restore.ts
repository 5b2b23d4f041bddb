/** How a restore of the database was learnt of: something acknowledged may be missing, or an operator said so. */
export type RestoreKind = 'detected' | 'declared';

/** One return of the database to an earlier state. Secrets, codes and tokens from before are suspended until it is confirmed. */
export interface Restore {
  /** Counts up. */
  readonly number: number;
  /** By the database's clock. */
  readonly at: Date;
  readonly kind: RestoreKind;
  readonly confirmedAt: Date | null;
}
