import type { Pruner } from './ports.ts';

export interface PruningOptions {
  /** Milliseconds between two runs. */
  readonly intervalMs: number;
  /** How long a revocation outlives the credential it is about. */
  readonly revocationDays: number;
  readonly pendingDays: number;
  /** Told how many rows went, or what failed; a failed run is tried again at the next turn. */
  readonly report: (outcome: { readonly rows: number } | { readonly error: unknown }) => void;
}

/** Keeps the ledger small, in the background. Several instances at once are harmless. Disposing ends it after a running turn. */
export function startPruning(pruner: Pruner, options: PruningOptions): AsyncDisposable {
  let running: Promise<void> = Promise.resolve();
  const turn = async () => {
    try {
      options.report({ rows: await pruner.prune(options) });
    } catch (error) {
      options.report({ error });
    }
  };
  const timer = setInterval(() => {
    running = running.then(turn);
  }, options.intervalMs);
  timer.unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await running;
    },
  };
}
