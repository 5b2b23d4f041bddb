import { unavailable } from '@phds/service-kit/errors';

/** How many may wait for their turn, and how long each does, in milliseconds. */
export interface WaitLimits {
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

const PATIENT: WaitLimits = { maxWaiting: Number.POSITIVE_INFINITY, maxWaitMs: Number.POSITIVE_INFINITY };

/** Lets so many pass at a time, first come first served. */
class Gate {
  #free: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<() => void>();

  constructor(limit: number, maxWaiting: number) {
    this.#free = limit;
    this.#maxWaiting = maxWaiting;
  }

  get isIdle(): boolean {
    return this.#free > 0 && this.#waiting.size === 0;
  }

  async pass<T>(waitMs: number, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await this.#wait(waitMs);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #wait(waitMs: number): Promise<void> {
    if (this.#waiting.size >= this.#maxWaiting) throw unavailable(new Error('too many wait for their turn'));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let timer: NodeJS.Timeout | undefined;
    const enter = () => {
      clearTimeout(timer);
      this.#waiting.delete(enter);
      resolve();
    };
    const giveUp = () => {
      this.#waiting.delete(enter);
      reject(unavailable(new Error('waited too long for a turn')));
    };
    this.#waiting.add(enter);
    if (Number.isFinite(waitMs)) timer = setTimeout(giveUp, waitMs);
    return promise;
  }
}

/** Turns of work that is about a user: one at a time for each, and so many for all of them. */
export class UserTurns {
  readonly #all: Gate;
  readonly #users = new Map<string, Gate>();
  readonly #limits: WaitLimits;

  constructor(atOnce: number, limits: WaitLimits = PATIENT) {
    this.#all = new Gate(atOnce, limits.maxWaiting);
    this.#limits = limits;
  }

  /** Runs the work when it is its turn. Throws UNAVAILABLE when too many wait, or it would for too long. */
  async take<T>(userId: string, work: () => Promise<T>): Promise<T> {
    const { maxWaiting, maxWaitMs } = this.#limits;
    const user = this.#users.get(userId) ?? new Gate(1, maxWaiting);
    this.#users.set(userId, user);
    const since = performance.now();
    const waitForAll = () => this.#all.pass(Math.max(0, since + maxWaitMs - performance.now()), work);
    try {
      return await user.pass(maxWaitMs, waitForAll);
    } finally {
      if (user.isIdle && this.#users.get(userId) === user) this.#users.delete(userId);
    }
  }
}
