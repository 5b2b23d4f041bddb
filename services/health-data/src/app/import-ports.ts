import type { ImportKey, ImportProgress, ImportState, ImportStatus } from '../domain/import-progress.ts';

/** The imports of people and how far they got. */
export interface ImportStore {
  /**
   * Starts an import, or resumes an unfinished one at the position of its furthest report. With `again`, or after a finished one,
   * starts a new run at the beginning.
   */
  start(key: ImportKey, size: number, again: boolean, now: Date): Promise<ImportProgress>;
  /**
   * Stores the furthest report of the latest run. A report that is behind it, belongs to an earlier run, or follows the end of the
   * run changes nothing. Returns false if there is no such import.
   */
  report(key: ImportKey, progress: ImportProgress, state: ImportState, now: Date): Promise<boolean>;
  /** Running imports that have reported since then. */
  countRunning(since: Date): Promise<number>;
  /** The latest first. */
  list(userId: string, limit: number): Promise<readonly ImportStatus[]>;
}
