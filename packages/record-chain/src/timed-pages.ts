/** Reads pages of time-ordered items, one point in time after the other. */
export class TimedPages<Item> {
  readonly #pages: AsyncIterator<readonly Item[]>;
  readonly #timeOf: (item: Item) => number;
  #page: readonly Item[] = [];
  #index = 0;

  constructor(pages: AsyncIterable<readonly Item[]>, timeOf: (item: Item) => number) {
    this.#pages = pages[Symbol.asyncIterator]();
    this.#timeOf = timeOf;
  }

  /** The time of the next item; null at the end. */
  async nextTime(): Promise<number | null> {
    const item = await this.#peek();
    return item === undefined ? null : this.#timeOf(item);
  }

  /** All items up to that time. */
  async take(time: number): Promise<Item[]> {
    const taken: Item[] = [];
    for (;;) {
      const item = await this.#peek();
      if (item === undefined || this.#timeOf(item) > time) return taken;
      taken.push(item);
      this.#index += 1;
    }
  }

  async #peek(): Promise<Item | undefined> {
    while (this.#index === this.#page.length) {
      const next = await this.#pages.next();
      if (next.done === true) return undefined;
      this.#page = next.value;
      this.#index = 0;
    }
    return this.#page[this.#index];
  }
}
