import { withoutDeadline } from './deadline.ts';
import { translateDatabaseError } from './postgres-errors.ts';

/** What proves in the database that everything before is there; see RestoreGuard. */
interface Proof {
  acknowledge(): Promise<void>;
}

type Method = (...args: unknown[]) => Promise<unknown>;

/** The same use cases, of which those named answer only once the database holds the proof of what they did. */
export function acknowledging<UseCases extends object>(
  guard: Proof,
  useCases: UseCases,
  names: readonly (keyof UseCases)[],
): UseCases {
  const wrapped = names.map((name) => [name, acknowledged(guard, useCases[name] as Method)] as const);
  return { ...useCases, ...Object.fromEntries(wrapped) };
}

/** The same for one function. */
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
 * Runs one at a time; all who ask while one is under way share the next, which begins after they asked. What a caller did before
 * is so always before its run.
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
