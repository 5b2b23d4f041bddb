import { withoutDeadline } from '../deadline.ts';
import { translateDatabaseError } from '../postgres/errors.ts';

/** Waits until the database holds proof of all earlier changes; see RestoreGuard. */
interface Proof {
  acknowledge(): Promise<void>;
}

type Method = (...args: unknown[]) => Promise<unknown>;

/** Wraps use cases so that the named ones return only after the database holds the proof of their changes. */
export function acknowledging<UseCases extends object>(
  guard: Proof,
  useCases: UseCases,
  names: readonly (keyof UseCases)[],
): UseCases {
  const wrapped = names.map((name) => [name, acknowledged(guard, useCases[name] as Method)] as const);
  return { ...useCases, ...Object.fromEntries(wrapped) };
}

/** Wraps one function in the same way. */
function acknowledged<Args extends unknown[], Result>(
  guard: Proof,
  change: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return async (...args) => {
    const result = await change(...args);
    try {
      await guard.acknowledge();
    } catch (error) {
      throw translateDatabaseError(error);
    }
    return result;
  };
}

/**
 * Runs `run` one at a time. Callers that arrive during a run share the next one, so a caller's earlier changes always precede the
 * run that it waits for.
 */
export function sharingRuns(run: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const start = () => {
    next = null;
    const started = withoutDeadline(run).finally(() => {
      if (running === started) running = null;
    });
    running = started;
    return started;
  };
  return () => {
    if (running === null) return start();
    next ??= running.then(start, start);
    return next;
  };
}
