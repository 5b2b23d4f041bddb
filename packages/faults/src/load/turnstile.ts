/** Lets everybody pass or makes everybody wait, and knows who does. */
export class Turnstile {
  #opened = Promise.withResolvers<void>();
  #isOpen = false;
  readonly #waiting = new Set<object>();

  /** Waits while it is closed. */
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

  open(): void {
    this.#isOpen = true;
    this.#opened.resolve();
  }

  close(): void {
    this.#isOpen = false;
    this.#opened = Promise.withResolvers();
  }
}
