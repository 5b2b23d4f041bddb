import { translateDatabaseError } from './postgres/errors.ts';
import type { Logger } from './telemetry/log.ts';
import type { Metrics } from './telemetry/metrics.ts';

/**
 * Takes the failures of background tasks. `task` says what the task does, as in "delivering events": it is the label of the metric and,
 * followed by "failed", the line of the log.
 */
export type FailureReports = (task: string) => (error: unknown) => void;

/**
 * Logs and counts the failures of background tasks. A task is exported from its first mention, so that its first failure shows. What does
 * not answer is logged as `unavailable`, which needs no stack.
 */
export function reportFailures(metrics: Metrics, log: Pick<Logger, 'warn'>): FailureReports {
  return (task) => {
    const count = metrics.countFailures(task);
    return (error) => {
      count();
      const translated = translateDatabaseError(error);
      log.warn({ err: translated.reason === 'unavailable' ? translated : error }, `${task} failed`);
    };
  };
}

interface PeriodicOptions {
  /** Milliseconds between two runs. */
  readonly intervalMs: number;
  /** Whether to run immediately. */
  readonly atOnce?: boolean;
  /** Receives the error of a failed run; the next run tries again. */
  readonly onFailure: (error: unknown) => void;
}

/** Runs a task periodically in the background, never twice at once. Disposal aborts the signal and waits for a running task. */
export function startPeriodic(
  turn: (signal: AbortSignal) => Promise<unknown>,
  options: PeriodicOptions,
): AsyncDisposable {
  const ending = new AbortController();
  let running: Promise<void> | null = null;
  const takeTurn = () => {
    running ??= turn(ending.signal)
      .then(() => undefined, options.onFailure)
      .finally(() => {
        running = null;
      });
  };
  const timer = setInterval(takeTurn, options.intervalMs);
  timer.unref();
  if (options.atOnce === true) takeTurn();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      ending.abort();
      await running;
    },
  };
}

/**
 * By table, in pruning order: a function that deletes at most `limit` rows that are no longer needed, in short statements, and
 * returns the number deleted. Fewer than `limit` means that no more are left or that others are locked, since locked rows are
 * skipped.
 */
export type PrunedTables = Readonly<Record<string, (limit: number) => Promise<number>>>;

/** Milliseconds between two rounds of pruning. */
export const PRUNE_INTERVAL_MS = 3_600_000;

interface PruningOptions {
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
