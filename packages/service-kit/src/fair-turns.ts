import { unavailable } from './errors.ts';

export interface TurnLimits {
  /** Maximum number running at once, over all keys. */
  readonly atOnce: number;
  /** Maximum number running at once for one key. */
  readonly perKey: number;
  /** Maximum number waiting for one key. */
  readonly maxWaiting: number;
  /** Maximum wait in milliseconds. */
  readonly maxWaitMs: number;
}

/** The running and waiting work of one key. */
interface Line {
  running: number;
  readonly waiting: Set<() => void>;
}

/**
 * Shares turns of work fairly between keys. A free slot goes to the waiting key with the fewest running, and on a tie to the one
 * whose last turn is longest ago. Within a key, first come, first served.
 */
export class FairTurns {
  readonly #limits: TurnLimits;
  #running = 0;
  /** Ordered by their last turns; only keys with running or waiting work. */
  readonly #lines = new Map<string, Line>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Runs the work when it is its turn. Throws UNAVAILABLE if too many of the key are waiting, or it waited too long. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(key) ?? { running: 0, waiting: new Set() };
    this.#lines.set(key, line);
    // If a slot is free, every waiting key is at its own limit, because `#leave` has already started all that could run.
    if (this.#hasPlace(line)) this.#begin(key, line);
    else await this.#wait(key, line);
    try {
      return await work();
    } finally {
      this.#leave(key, line);
    }
  }

  #hasPlace(line: Line): boolean {
    return this.#running < this.#limits.atOnce && line.running < this.#limits.perKey;
  }

  #begin(key: string, line: Line): void {
    this.#running += 1;
    line.running += 1;
    this.#lines.delete(key);
    this.#lines.set(key, line);
  }

  #wait(key: string, line: Line): Promise<void> {
    const { maxWaiting, maxWaitMs } = this.#limits;
    if (line.waiting.size >= maxWaiting) throw unavailable(new Error('too many wait for their turn'));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    let timer: NodeJS.Timeout | undefined;
    const enter = () => {
      clearTimeout(timer);
      this.#begin(key, line);
      resolve();
    };
    const giveUp = () => {
      line.waiting.delete(enter);
      this.#forgetIdle(key, line);
      reject(unavailable(new Error('waited too long for a turn')));
    };
    line.waiting.add(enter);
    if (Number.isFinite(maxWaitMs)) timer = setTimeout(giveUp, maxWaitMs);
    return promise;
  }

  #leave(key: string, line: Line): void {
    this.#running -= 1;
    line.running -= 1;
    this.#forgetIdle(key, line);
    const next = this.#findNext();
    const [enter] = next?.waiting ?? [];
    if (next === undefined || enter === undefined) return;
    next.waiting.delete(enter);
    enter();
  }

  #findNext(): Line | undefined {
    let next: Line | undefined;
    for (const line of this.#lines.values()) {
      if (line.waiting.size === 0 || !this.#hasPlace(line)) continue;
      if (next === undefined || line.running < next.running) next = line;
    }
    return next;
  }

  #forgetIdle(key: string, line: Line): void {
    if (line.running === 0 && line.waiting.size === 0) this.#lines.delete(key);
  }
}
