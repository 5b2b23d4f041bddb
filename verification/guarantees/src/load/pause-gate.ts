import { setTimeout as delay } from 'node:timers/promises';

/** Maximum recovery time after a fault. */
export const END_LIMIT_MS = 30_000;
const LOOK_MS = 20;

/** Blocks or unblocks everybody, and knows who is waiting. */
export class PauseGate {
  #opened = Promise.withResolvers<void>();
  #isOpen = false;
  readonly #waiting = new Set<object>();

  /** Waits while the gate is closed. */
  async pass(who: object): Promise<void> {
    while (!this.#isOpen) {
      this.#waiting.add(who);
      await this.#opened.promise;
      this.#waiting.delete(who);
    }
  }

  isWaiting(who: object): boolean {
    return this.#waiting.has(who);
  }

  /** Waits until all of these are waiting, or the limit is over. */
  async untilWaiting(everybody: readonly object[]): Promise<void> {
    const deadline = Date.now() + END_LIMIT_MS;
    while (!everybody.every((each) => this.isWaiting(each)) && Date.now() < deadline) await delay(LOOK_MS);
  }

  open(): void {
    this.#isOpen = true;
    this.#opened.resolve();
  }

  close(): void {
    this.#isOpen = false;
    this.#opened = Promise.withResolvers();
  }
}

/** Revokes many tokens at once: every person collects a share and waits for the others, then all revoke. */
export class Storm {
  /** For each person. */
  readonly tokens: number;
  /** Concurrent revocations of one person. */
  readonly parallel: number;
  #collecting: number;
  #people: number;
  readonly #collected = Promise.withResolvers<void>();
  readonly #over = Promise.withResolvers<void>();

  constructor(options: { readonly tokens: number; readonly parallel: number; readonly people: number }) {
    this.tokens = Math.ceil(options.tokens / options.people);
    this.parallel = options.parallel;
    this.#collecting = options.people;
    this.#people = options.people;
  }

  /** Called when a person has collected their share or given up. Waits for the others. */
  everybody(): Promise<void> {
    this.#collecting -= 1;
    if (this.#collecting === 0) this.#collected.resolve();
    return this.#collected.promise;
  }

  /** Called when a person has revoked their share. */
  leave(): void {
    this.#people -= 1;
    if (this.#people === 0) this.#over.resolve();
  }

  /** Resolves when everybody has their share. */
  get collected(): Promise<void> {
    return this.#collected.promise;
  }

  /** Resolves when everybody has finished. */
  get over(): Promise<void> {
    return this.#over.promise;
  }
}
