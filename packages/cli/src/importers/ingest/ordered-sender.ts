/** Something to send, with its ordering constraints. */
export interface Sendable {
  /** Items with different order keys are independent. */
  readonly orderKey: string;
  /** Items with the same order key and overlapping spans (both ends inclusive) are sent in order; others may be sent concurrently. */
  readonly first: number;
  readonly last: number;
}

/** Sends items concurrently, up to a limit, but never together with an earlier item of the same order key whose span overlaps. */
export class OrderedSender<Item extends Sendable> {
  readonly #send: (item: Item) => Promise<void>;
  readonly #inFlight: number;
  readonly #running = new Map<Item, Promise<void>>();
  #waiting: Item[] = [];
  #failure: { readonly error: unknown } | undefined;

  /** `inFlight` is the maximum number of concurrent items. */
  constructor(inFlight: number, send: (item: Item) => Promise<void>) {
    this.#inFlight = inFlight;
    this.#send = send;
  }

  add(item: Item): void {
    this.#waiting.push(item);
    this.#start();
  }

  /** Resolves when every item has been started. Rejects with the first failure, after which nothing is sent. */
  async started(): Promise<void> {
    while (this.#waiting.length > 0 && this.#failure === undefined)
      await Promise.race(this.#running.values());
    this.#throwFailure();
  }

  /** Resolves when every item is done. Rejects like `started`, after running items have ended. */
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
