import type { Clock } from '@phds/service-kit/clock';
import type { Pruner } from './ports.ts';

/** Deletes at an interval what nobody can ask about any more. Never keeps the process alive; disposing stops it. */
export function startPruning(dependencies: {
  readonly pruner: Pruner;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Told about a failed round; the next one tries again. */
  readonly onError: (error: unknown) => void;
}): AsyncDisposable {
  const { pruner, clock, intervalMs, onError } = dependencies;
  let running: Promise<void> = Promise.resolve();
  const round = async () => {
    await running;
    await pruner.prune(clock.now()).then(() => undefined, onError);
  };
  const timer = setInterval(() => {
    running = round();
  }, intervalMs);
  timer.unref();
  return {
    [Symbol.asyncDispose]: () => {
      clearInterval(timer);
      return running;
    },
  };
}
