import type { Category } from '@phds/catalog/categories';

/** A change of a person's readings of one category. */
export interface DataChange {
  readonly userId: string;
  readonly category: Category;
  readonly at: Date;
  /** The latest time of the changed readings, new or removed. */
  readonly latestReadingAt: Date;
}

export interface DataEventTimes {
  /** How long an event collects changes. */
  readonly delayMs: number;
  /** The shortest time from one event of a grant to the next. */
  readonly spacingMs: number;
}

export interface DataChangeStore {
  /**
   * Adds `data.updated` for the live grants that share the category and, with a day's margin for time zones, the time of a changed reading.
   * It is due after `delayMs`, and `spacingMs` after the one before was due, and takes up the changes reported until it is sent. An app without an endpoint gets none.
   */
  add(changes: readonly DataChange[], times: DataEventTimes): Promise<void>;
}

/** What health-data reports. Reporting a change twice makes at most one event more. */
export interface DataChanges {
  report(changes: readonly DataChange[]): Promise<void>;
}

export function createDataChanges(dependencies: {
  readonly changes: DataChangeStore;
  readonly times: DataEventTimes;
}): DataChanges {
  const { changes: store, times } = dependencies;
  return { report: (changes) => store.add(changes, times) };
}
