import { AsyncLocalStorage } from 'node:async_hooks';

/** Work that can be aborted. */
export interface Ongoing {
  abandon(): void;
}

/**
 * How long a caller waits for its answer. Stored as remaining time, not as a time of day, so that clocks of different machines need
 * not agree. Ends early when the caller gives up.
 */
export class Deadline {
  /** Monotonic milliseconds. */
  readonly #endsAt: number;
  #hasEnded = false;
  #ongoing: Set<Ongoing> | undefined;

  constructor(timeoutMs: number) {
    this.#endsAt = performance.now() + timeoutMs;
  }

  /** Milliseconds; 0 when the caller has stopped waiting. */
  remainingMs(): number {
    return this.#hasEnded ? 0 : Math.max(0, this.#endsAt - performance.now());
  }

  /** Aborts `ongoing` if the caller gives up before it is released. */
  hold(ongoing: Ongoing): void {
    this.#ongoing ??= new Set();
    this.#ongoing.add(ongoing);
  }

  release(ongoing: Ongoing): void {
    this.#ongoing?.delete(ongoing);
  }

  /** Marks the call as over: the caller has given up or has its answer. */
  end(): void {
    this.#hasEnded = true;
    for (const ongoing of this.#ongoing ?? []) ongoing.abandon();
  }
}

const current = new AsyncLocalStorage<Deadline | undefined>();

/** Runs the work of a call. Its statements and outgoing calls are limited to the remaining time. */
export function withinDeadline<T>(deadline: Deadline, work: () => T): T {
  return current.run(deadline, work);
}

/** Runs work without the current caller's deadline, such as a batch for several callers or work after the answer. */
export function withoutDeadline<T>(work: () => T): T {
  return current.run(undefined, work);
}

/**
 * Runs work that several calls wait for. It ends when the last of them gives up, never with one alone, and has no deadline if one of
 * them has none.
 */
export async function withinLastDeadline<T>(
  deadlines: readonly (Deadline | undefined)[],
  work: () => Promise<T>,
): Promise<T> {
  const calls = new Set<Deadline>();
  for (const deadline of deadlines) {
    if (deadline === undefined) return withoutDeadline(work);
    calls.add(deadline);
  }
  const last = new Deadline(Math.max(...[...calls].map((deadline) => deadline.remainingMs())));
  let waiting = calls.size;
  const ongoing = {
    abandon: () => {
      waiting -= 1;
      if (waiting === 0) last.end();
    },
  };
  for (const deadline of calls) deadline.hold(ongoing);
  try {
    return await withinDeadline(last, work);
  } finally {
    for (const deadline of calls) deadline.release(ongoing);
  }
}

/** The deadline of the current call; undefined outside a call. */
export function currentDeadline(): Deadline | undefined {
  return current.getStore();
}

/** Binds the current deadline to a callback that other code will call. */
export function keepDeadline<Args extends unknown[], Result>(
  callback: (...args: Args) => Result,
): (...args: Args) => Result {
  const deadline = current.getStore();
  return (...args) => current.run(deadline, callback, ...args);
}
