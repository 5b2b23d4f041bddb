import { AppError } from '@phds/service-kit/errors';
import type { Access, Verdict } from '../domain/access.ts';

export interface QueueLimits {
  /** Accesses that wait; those of further calls are refused at once. */
  readonly maxQueued: number;
  /** Longest wait, in milliseconds. */
  readonly maxWaitMs: number;
}

/** Accesses of one call; they travel together. */
export interface Call {
  readonly accesses: readonly Access[];
  /** Monotonic milliseconds. */
  readonly since: number;
  readonly resolve: (verdicts: Verdict[]) => void;
  readonly reject: (error: AppError) => void;
}

/** Calls that wait to be recorded. Those for which there is no room, or no time left, end with `access_not_recorded`. */
export class CallQueue {
  readonly #limits: QueueLimits;
  #calls: Call[] = [];
  #accesses = 0;
  #expiry: NodeJS.Timeout | null = null;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** Answers what becomes of the call. */
  add(accesses: readonly Access[]): Promise<Verdict[]> {
    if (this.#accesses + accesses.length > this.#limits.maxQueued) {
      return Promise.reject(notRecorded(new Error('the queue is full')));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Verdict[]>();
    this.#calls.push({ accesses, since: performance.now(), resolve, reject });
    this.#accesses += accesses.length;
    this.#watch();
    return promise;
  }

  /** Takes the calls that are in time and have no more accesses than that, oldest first. */
  take(room: number): Call[] {
    this.#rejectLate();
    const taken = takeWhileFits(this.#calls, room, (call) => call.accesses.length);
    this.#calls = this.#calls.slice(taken.length);
    this.#accesses -= countAccesses(taken);
    return taken;
  }

  #rejectLate(): void {
    const oldest = performance.now() - this.#limits.maxWaitMs;
    const inTime = this.#calls.findIndex((call) => call.since >= oldest);
    const rejected = this.#calls.splice(0, inTime === -1 ? this.#calls.length : inTime);
    this.#accesses -= countAccesses(rejected);
    for (const call of rejected) call.reject(notRecorded(new Error('waited too long')));
  }

  /** Ends the wait also while the batch in flight hangs; delays nothing. */
  #watch(): void {
    const [first] = this.#calls;
    if (this.#expiry !== null || first === undefined) return;
    const wait = first.since + this.#limits.maxWaitMs - performance.now();
    this.#expiry = setTimeout(() => {
      this.#expiry = null;
      this.#rejectLate();
      this.#watch();
    }, Math.max(0, wait) + 1);
    this.#expiry.unref();
  }
}

/** The first items that together are no larger than the room. */
export function takeWhileFits<Item>(
  items: readonly Item[],
  room: number,
  sizeOf: (item: Item) => number,
): Item[] {
  let left = room;
  const end = items.findIndex((item) => {
    left -= sizeOf(item);
    return left < 0;
  });
  return items.slice(0, end === -1 ? items.length : end);
}

export function notRecorded(cause: unknown): AppError {
  return new AppError('access_not_recorded', 'The access could not be recorded.', {
    cause,
    retryAfterSeconds: 1,
  });
}

function countAccesses(calls: readonly Call[]): number {
  return calls.reduce((sum, call) => sum + call.accesses.length, 0);
}
