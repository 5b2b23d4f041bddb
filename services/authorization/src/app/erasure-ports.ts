/** What the erasure of a person removed. */
export interface Erasure {
  readonly codes: number;
  readonly families: number;
  /** Number of apps that lost their owner. */
  readonly apps: number;
}

/** The tables with user ids. */
export interface PersonStore {
  /** Client ids of the person's apps that are not revoked. */
  findOpenApps(userId: string): Promise<string[]>;
  /**
   * Removes every row of the person, and the person from the apps, in steps that each commit. Returns when nothing is left; after an
   * interruption a repeat continues.
   */
  erase(userId: string): Promise<Erasure>;
}
