import type { WebhookQueue } from './webhook-ports.ts';

const FOUND_AT_ONCE = 200;

/** The endpoints that a sender claims from. Finding them costs much more than claiming from them, so it is not done for each claim. */
export class DueEndpoints {
  readonly #queue: Pick<WebhookQueue, 'findDue'>;
  #ids = new Set<string>();
  #search: { readonly newWithinMs?: number } | null = null;
  #areMore = false;
  #isProgress = false;

  constructor(queue: Pick<WebhookQueue, 'findDue'>) {
    this.#queue = queue;
  }

  get ids(): ReadonlySet<string> {
    return this.#ids;
  }

  get isSearchDue(): boolean {
    return this.#search !== null;
  }

  /** The next search finds every endpoint with due events. */
  searchAll(): void {
    this.#search = {};
  }

  /** The next search adds the endpoints with events of the last `newWithinMs` milliseconds. */
  searchNew(newWithinMs: number): void {
    this.#search ??= { newWithinMs };
  }

  async search(): Promise<void> {
    while (this.#search !== null) {
      const { newWithinMs } = this.#search;
      this.#search = null;
      const found = await this.#queue.findDue(FOUND_AT_ONCE, newWithinMs);
      const areMore = found.length === FOUND_AT_ONCE;
      if (newWithinMs !== undefined && areMore) this.searchAll();
      if (newWithinMs === undefined)
        [this.#ids, this.#areMore, this.#isProgress] = [new Set(), areMore, false];
      for (const id of found) this.#ids.add(id);
    }
  }

  /** After a claim that left places free: forgets endpoints with nothing in delivery, and searches again if there are more. */
  keep(busy: ReadonlyMap<string, number>, isProgress: boolean): void {
    this.#isProgress ||= isProgress;
    for (const id of this.#ids) if (!busy.has(id)) this.#ids.delete(id);
    if (!isProgress && this.#areMore && this.#isProgress) this.searchAll();
  }
}
