import type { FailureReports } from './background-failures.ts';
import { startPeriodic } from './periodic.ts';

/**
 * By table, in pruning order: a function that deletes at most `limit` rows that are no longer needed, in short statements, and
 * returns the number deleted. Fewer than `limit` means that no more are left or that others are locked, since locked rows are
 * skipped.
 */
export type PrunedTables = Readonly<Record<string, (limit: number) => Promise<number>>>;

export interface PruningOptions {
  /** Milliseconds between two rounds. */
  readonly intervalMs: number;
  readonly failureOf: FailureReports;
}

/** A batch takes a small part of the statement timeout, even on a busy database. */
const BATCH_ROWS = 1_000;

/**
 * Prunes immediately and then periodically in the background. Disposal waits for a running batch. A failing table is
 * retried in the next round; other tables are still pruned. Several processes may prune concurrently.
 */
export function startPruning(
  tables: PrunedTables,
  { intervalMs, failureOf }: PruningOptions,
): AsyncDisposable {
  const tasks = Object.entries(tables).map(([table, deleteBatch]) => ({
    deleteBatch,
    onFailure: failureOf(`pruning ${table}`),
  }));
  const round = async (signal: AbortSignal) => {
    for (const { deleteBatch, onFailure } of tasks) await pruneTable(deleteBatch, signal).catch(onFailure);
  };
  return startPeriodic(round, { intervalMs, atOnce: true, onFailure: failureOf('pruning') });
}

async function pruneTable(deleteBatch: PrunedTables[string], signal: AbortSignal): Promise<void> {
  let deleted = BATCH_ROWS;
  while (deleted >= BATCH_ROWS && !signal.aborted) deleted = await deleteBatch(BATCH_ROWS);
}
