export interface PeriodicOptions {
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
