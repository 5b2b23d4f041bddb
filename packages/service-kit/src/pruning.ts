import type { Logger } from './log.ts';
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
  readonly log: Pick<Logger, 'warn'>;
}

/** A batch takes a small part of the statement timeout, even on a busy database. */
const BATCH_ROWS = 1_000;

/**
 * Prunes immediately and then periodically in the background. Disposal waits for a running batch. A failing table is logged and
 * retried in the next round; other tables are still pruned. Several processes may prune concurrently.
 */
export function startPruning(tables: PrunedTables, { intervalMs, log }: PruningOptions): AsyncDisposable {
  const tell = (table: string) => (err: unknown) => log.warn({ err, table }, 'pruning failed');
  const round = async (signal: AbortSignal) => {
    for (const [table, deleteBatch] of Object.entries(tables)) {
      await pruneTable(deleteBatch, signal).catch(tell(table));
    }
  };
  return startPeriodic(round, { intervalMs, atOnce: true, onFailure: tell('') });
}

async function pruneTable(deleteBatch: PrunedTables[string], signal: AbortSignal): Promise<void> {
  let deleted = BATCH_ROWS;
  while (deleted >= BATCH_ROWS && !signal.aborted) deleted = await deleteBatch(BATCH_ROWS);
}
