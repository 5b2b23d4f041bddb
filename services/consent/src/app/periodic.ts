export interface PeriodicOptions {
  /** Milliseconds between two turns. */
  readonly intervalMs: number;
  /** Begins with a turn. */
  readonly atOnce?: boolean;
  /** Told what failed; the next turn tries again. */
  readonly onFailure: (error: unknown) => void;
}

/** Takes a turn now and then, in the background, one at a time. Disposing ends it after a running turn. */
export function startPeriodic(turn: () => Promise<unknown>, options: PeriodicOptions): AsyncDisposable {
  let running: Promise<void> | null = null;
  const takeTurn = () => {
    running ??= turn()
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
      await running;
    },
  };
}
