import type { WebhookQueue } from './webhook-ports.ts';

const FOUND_AT_ONCE = 200;

/** The endpoints that a sender claims from. Finding them costs much more than claiming from them, so it is not done for each claim. */
export class DueEndpoints {
  readonly #queue: Pick<WebhookQueue, 'findDue' | 'findDueAmong'>;
  #ids = new Set<string>();
  #search: { readonly newWithinMs?: number } | null = null;
  #areMore = false;
  #isProgress = false;

  constructor(queue: Pick<WebhookQueue, 'findDue' | 'findDueAmong'>) {
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

  /**
   * After a claim that left places free: forgets endpoints with nothing in delivery and nothing due, and searches again if there are more.
   * What is still due beside deliveries was held back by their shares, and is claimed when they end.
   */
  async keep(busy: ReadonlyMap<string, number>, isProgress: boolean): Promise<void> {
    this.#isProgress ||= isProgress;
    const idle = [...this.#ids].filter((id) => !busy.has(id));
    const mayHoldBack = busy.size > 0 && idle.length > 0;
    const heldBack = new Set(mayHoldBack ? await this.#queue.findDueAmong(idle) : []);
    for (const id of idle) if (!heldBack.has(id)) this.#ids.delete(id);
    if (!isProgress && this.#areMore && this.#isProgress) this.searchAll();
  }
}
