/** A queue in which keys take turns. Within a key, first in, first out. */
export class FairQueue<Item> {
  /** In the order of their turns; only keys with items. */
  readonly #byKey = new Map<string, Item[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(key: string, item: Item): void {
    const items = this.#byKey.get(key);
    if (items === undefined) this.#byKey.set(key, [item]);
    else items.push(item);
    this.#size += 1;
  }

  /** Removes the next item; undefined when the queue is empty. */
  take(): Item | undefined {
    for (const [key, items] of this.#byKey) {
      const item = items.shift();
      // Its next turn comes after those of all other keys.
      this.#byKey.delete(key);
      if (items.length > 0) this.#byKey.set(key, items);
      this.#size -= 1;
      return item;
    }
    return undefined;
  }
}
