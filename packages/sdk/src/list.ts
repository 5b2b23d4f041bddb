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

/** Which pages the caller asked for. */
export interface PageChoice {
  /** The first page; 1 by default. */
  readonly page?: number | undefined;
  readonly pageSize?: number | undefined;
}

type ReadPage<Item> = (page: number, pageSize: number, pace?: Pace) => Promise<Page<Item>>;

/** The largest page that the service answers: the fewest requests. */
export const LARGEST_PAGE = 100;

/** A list that is read page by page while you iterate: `for await (const item of list)`. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #choice: PageChoice;
  readonly #read: ReadPage<Item>;

  constructor(choice: PageChoice, read: ReadPage<Item>) {
    this.#choice = choice;
    this.#read = read;
  }

  /** The first page only. */
  page(): Promise<Page<Item>> {
    const { page = 1, pageSize = LARGEST_PAGE } = this.#choice;
    return this.#read(page, pageSize);
  }

  /** All pages, from the first. */
  async *pages(): AsyncGenerator<Page<Item>, void, undefined> {
    const { page: first = 1, pageSize = LARGEST_PAGE } = this.#choice;
    const pace = new Pace();
    for (let number = first; ; number += 1) {
      // Somebody may wait for the first page, so a 429 is only repeated within the budget there.
      const page = await this.#read(number, pageSize, number === first ? undefined : pace);
      yield page;
      if (number >= page.pagination.totalPages) return;
    }
  }

  /**
   * All items. An item that new data moves to a later page meanwhile is not yielded twice: the ids are kept until the end. When items of
   * pages that were read are deleted meanwhile, later items move to earlier pages, so some may be missed: to keep a copy, use `sync`.
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const yielded = new Set<unknown>();
    for await (const { data } of this.pages()) {
      for (const item of data) {
        const id = idOf(item);
        if (yielded.has(id)) continue;
        if (id !== undefined) yielded.add(id);
        yield item;
      }
    }
  }

  /** The first items as an array, `limit` at most. Without a `pageSize` of yours, a small limit reads a page of that size. */
  async toArray({ limit }: { readonly limit: number }): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this.#inPagesFor(limit)) {
      items.push(item);
      if (items.length >= limit) break;
    }
    return items;
  }

  /** The size of pages decides what is on a later page, so it is kept when the caller begins there. */
  #inPagesFor(limit: number): List<Item> {
    const { page = 1, pageSize } = this.#choice;
    if (page !== 1 || pageSize !== undefined) return this;
    return new List({ pageSize: Math.ceil(Math.min(limit, LARGEST_PAGE)) }, this.#read);
  }
}

function idOf(item: unknown): unknown {
  return (item as { readonly id?: unknown }).id;
}

/** Keeps a read of many pages within the limit of the service, which counts requests by the minute. */
export class Pace {
  /** Called with each wait before it begins, in milliseconds. */
  readonly onWait: ((waitMs: number) => void) | undefined;
  #notBefore = 0;

  constructor(onWait?: (waitMs: number) => void) {
    this.onWait = onWait;
  }

  /** How long the next request should wait. */
  pauseMs(now: number): number {
    return this.#notBefore - now;
  }

  /**
   * Reads what an answer says about the limit. Half of the requests may be sent at once; the others are spread over the time until the
   * limit is full again, so that calls for which somebody waits find some left.
   */
  note(headers: Headers, now: number): void {
    const quota = findNumber(headers.get('RateLimit-Policy'), 'q');
    const remaining = findNumber(headers.get('RateLimit'), 'r');
    const seconds = findNumber(headers.get('RateLimit'), 't');
    if (quota === null || remaining === null || seconds === null || remaining * 2 >= quota) return;
    this.#notBefore = now + (seconds * 1_000) / (remaining + 1);
  }
}

function findNumber(field: string | null, name: string): number | null {
  const value = field?.match(new RegExp(`;\\s*${name}=(\\d+)`))?.[1];
  return value === undefined ? null : Number(value);
}
