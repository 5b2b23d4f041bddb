import { startPeriodic } from '@phds/service-kit/periodic';
import { createAccessCounting } from './access-counting.ts';
import type { AccessCountStore } from './access-ports.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Retention } from './retention.ts';

export interface BackgroundOptions {
  readonly counts: AccessCountStore;
  readonly checkpoints: Checkpoints;
  readonly retention: Retention;
  /** Milliseconds between two runs of each task. */
  readonly intervalsMs: {
    readonly count: number;
    readonly checkpoint: number;
    readonly prune: number;
  };
  /** By what a task does: receives the error of a failed run; the next run tries again. */
  readonly failureOf: (task: string) => (error: unknown) => void;
  readonly onDropped: (months: readonly string[]) => void;
}

/** Starts counting, checkpoints and retention. Disposal waits for them, then signs a last checkpoint. */
export function startBackground(options: BackgroundOptions): AsyncDisposable {
  const { counts, checkpoints, retention, intervalsMs, failureOf, onDropped } = options;
  const resources = new AsyncDisposableStack();
  const repeat = (
    what: string,
    intervalMs: number,
    turn: (signal: AbortSignal) => Promise<unknown>,
    atOnce = false,
  ) => resources.use(startPeriodic(turn, { intervalMs, atOnce, onFailure: failureOf(what) }));

  const checkpointing = 'the checkpoint of the access records';
  resources.defer(async () => {
    await checkpoints.take().catch(failureOf(checkpointing));
  });
  repeat('counting', intervalsMs.count, createAccessCounting(counts));
  repeat(checkpointing, intervalsMs.checkpoint, () => checkpoints.takeDue());
  const moveMonths = async (signal: AbortSignal) => {
    const dropped = await retention.movePartitions(signal);
    if (dropped.length > 0) {
      onDropped(dropped);
      await checkpoints.take();
    }
    await retention.deleteCounts(signal);
  };
  repeat('moving the months of access records', intervalsMs.prune, moveMonths, true);
  return resources;
}
