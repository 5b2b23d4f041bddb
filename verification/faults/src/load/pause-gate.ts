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
