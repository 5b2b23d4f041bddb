import type { Logger } from './log.ts';
import { startPeriodic } from './periodic.ts';

/**
 * By table, in the order of pruning: deletes at most `limit` of the rows that nobody can ask about any more, in statements that
 * stay short whatever there is to delete, and answers how many went. Fewer than `limit` means that none are left, or that somebody
 * else is at them: rows that are locked are passed over.
 */
export type PrunedTables = Readonly<Record<string, (limit: number) => Promise<number>>>;

export interface PruningOptions {
  /** Milliseconds between two rounds. */
  readonly intervalMs: number;
  readonly log: Pick<Logger, 'warn'>;
}

/** A batch that takes a small part of a statement's time, also on a busy database. */
const BATCH_ROWS = 1_000;

/**
 * Prunes at once and then at an interval, in the background; disposing ends it after a running batch. A table that fails is
 * logged and left to the next round, the others go on. Safe in several processes at once.
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
