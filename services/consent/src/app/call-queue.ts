import { AppError } from '@phds/service-kit/errors';
import type { Access, Verdict } from '../domain/access.ts';

export interface QueueLimits {
  /** Maximum number of waiting accesses; further calls are refused immediately. */
  readonly maxQueued: number;
  /** Maximum wait in milliseconds. */
  readonly maxWaitMs: number;
}

/** The accesses of one call, which are written together. */
export interface Call {
  readonly accesses: readonly Access[];
  /** See `CallOrigins`. */
  readonly origin: unknown;
  /** Monotonic milliseconds. */
  readonly since: number;
  readonly resolve: (verdicts: Verdict[]) => void;
  readonly reject: (error: AppError) => void;
}

/** Calls that are waiting to be recorded. Calls without room or time left fail with `access_not_recorded`. */
export class CallQueue {
  readonly #limits: QueueLimits;
  #calls: Call[] = [];
  #accesses = 0;
  #expiry: NodeJS.Timeout | null = null;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
  }

  /** Number of waiting accesses. */
  get size(): number {
    return this.#accesses;
  }

  get isEmpty(): boolean {
    return this.#calls.length === 0;
  }

  /** Returns the verdicts of the call. */
  add(accesses: readonly Access[], origin?: unknown): Promise<Verdict[]> {
    if (this.#accesses + accesses.length > this.#limits.maxQueued) {
      return Promise.reject(notRecorded(new Error('the queue is full')));
    }
    const { promise, resolve, reject } = Promise.withResolvers<Verdict[]>();
    this.#calls.push({ accesses, origin, since: performance.now(), resolve, reject });
    this.#accesses += accesses.length;
    this.#watch();
    return promise;
  }

  /** Takes the oldest calls that are in time, with at most `room` accesses in total. */
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

  /** Ends waits on time even while the current batch hangs. */
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

/** The longest prefix of the items that fits into the room. */
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
