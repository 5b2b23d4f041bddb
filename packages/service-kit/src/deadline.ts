import { AsyncLocalStorage } from 'node:async_hooks';

/** Something that goes on for a caller and can be broken off. */
export interface Ongoing {
  abandon(): void;
}

/**
 * How long a caller waits for what is being done for it. Time left, never a time of day: nothing depends on two clocks being alike.
 * Ends early when the caller gives up.
 */
export class Deadline {
  /** Monotonic milliseconds. */
  readonly #endsAt: number;
  #hasEnded = false;
  #ongoing: Set<Ongoing> | undefined;

  constructor(timeoutMs: number) {
    this.#endsAt = performance.now() + timeoutMs;
  }

  /** Milliseconds; 0 when the caller waits no more. */
  remainingMs(): number {
    return this.#hasEnded ? 0 : Math.max(0, this.#endsAt - performance.now());
  }

  /** Breaks off `ongoing` when the caller gives up, until it is released. */
  hold(ongoing: Ongoing): void {
    this.#ongoing ??= new Set();
    this.#ongoing.add(ongoing);
  }

  release(ongoing: Ongoing): void {
    this.#ongoing?.delete(ongoing);
  }

  /** The caller has given up, or has its answer. */
  end(): void {
    this.#hasEnded = true;
    for (const ongoing of this.#ongoing ?? []) ongoing.abandon();
  }
}

const current = new AsyncLocalStorage<Deadline | undefined>();

/** Runs the work of a call: its statements and the calls it makes get the time that is left. */
export function withinDeadline<T>(deadline: Deadline, work: () => T): T {
  return current.run(deadline, work);
}

/** Runs work that is not for the present caller alone, such as a batch of several, or goes on after its answer. */
export function withoutDeadline<T>(work: () => T): T {
  return current.run(undefined, work);
}

/** The deadline of the call that this code runs for; undefined in work that no call has asked for. */
export function currentDeadline(): Deadline | undefined {
  return current.getStore();
}

/** Keeps the present deadline for a callback that is called by whoever. */
export function keepDeadline<Args extends unknown[], Result>(
  callback: (...args: Args) => Result,
): (...args: Args) => Result {
  const deadline = current.getStore();
  return (...args) => current.run(deadline, callback, ...args);
}
