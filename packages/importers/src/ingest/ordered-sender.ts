/** Something to be sent, and what it must not overtake. */
export interface Sendable {
  /** Items of different order keys never depend on each other. */
  readonly orderKey: string;
  /** Items with the same order key whose spans (both inclusive) overlap are sent in order; the others may run in parallel. */
  readonly first: number;
  readonly last: number;
}

/** Sends items side by side, a few at a time, but never one beside an earlier one with the same order key whose span overlaps. */
export class OrderedSender<Item extends Sendable> {
  readonly #send: (item: Item) => Promise<void>;
  readonly #inFlight: number;
  readonly #running = new Map<Item, Promise<void>>();
  #waiting: Item[] = [];
  #failure: { readonly error: unknown } | undefined;

  /** `inFlight` is how many may be under way at a time. */
  constructor(inFlight: number, send: (item: Item) => Promise<void>) {
    this.#inFlight = inFlight;
    this.#send = send;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#start();
  }

  /** Resolves when everything is under way or done. Rejects with the first failure; nothing is sent after one. */
  async started(): Promise<void> {
    while (this.#waiting.length > 0 && this.#failure === undefined)
      await Promise.race(this.#running.values());
    this.#throwFailure();
  }

  /** Resolves when everything is done. Rejects like `started`, after what was under way has ended. */
  async done(): Promise<void> {
    while (this.#running.size > 0) await Promise.race(this.#running.values());
    this.#throwFailure();
  }

  #start(): void {
    for (const item of [...this.#waiting]) {
      if (this.#running.size >= this.#inFlight || this.#failure !== undefined) return;
      if (this.#mustWait(item)) continue;
      this.#waiting = this.#waiting.filter((other) => other !== item);
      this.#running.set(item, this.#run(item));
    }
  }

  async #run(item: Item): Promise<void> {
    try {
      await this.#send(item);
    } catch (error) {
      this.#failure ??= { error };
    } finally {
      this.#running.delete(item);
      this.#start();
    }
  }

  #mustWait(item: Item): boolean {
    const earlier = this.#waiting.slice(0, this.#waiting.indexOf(item));
    return [...this.#running.keys(), ...earlier].some((other) => overlaps(item, other));
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function overlaps(one: Sendable, other: Sendable): boolean {
  return one.orderKey === other.orderKey && one.first <= other.last && other.first <= one.last;
}
