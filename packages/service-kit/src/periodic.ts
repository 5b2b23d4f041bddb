export interface PeriodicOptions {
  /** Milliseconds between two turns. */
  readonly intervalMs: number;
  /** Begins with a turn. */
  readonly atOnce?: boolean;
  /** Told what failed; the next turn tries again. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Takes a turn now and then, in the background, one at a time. Disposing ends it after a running turn; the signal tells that turn
 * to come to an end.
 */
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
