/** One page of a list, as the service answers it. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: {
    readonly page: number;
    readonly pageSize: number;
    readonly total: number;
    readonly totalPages: number;
  };
}

/** A list that is read page by page while you iterate: `for await (const item of list)`. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #firstPage: number;
  readonly #read: (page: number) => Promise<Page<Item>>;

  constructor(firstPage: number, read: (page: number) => Promise<Page<Item>>) {
    this.#firstPage = firstPage;
    this.#read = read;
  }

  /** The first page only. */
  page(): Promise<Page<Item>> {
    return this.#read(this.#firstPage);
  }

  /** All pages, from the first. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    for (let number = this.#firstPage; ; number += 1) {
      const page = await this.#read(number);
      yield page;
      if (number >= page.pagination.totalPages) return;
    }
  }

  /** All items. An item that new data moves to the next page meanwhile is not repeated. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let before = new Set<unknown>();
    for await (const { data } of this.pages()) {
      for (const item of data) if (!before.has(idOf(item))) yield item;
      before = new Set(data.map(idOf));
      before.delete(undefined);
    }
  }

  /** The first items as an array, `limit` at most. */
  async toArray({ limit }: { readonly limit: number }): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }
}

function idOf(item: unknown): unknown {
  return (item as { readonly id?: unknown }).id;
}
