/** Something that waits in a queue. */
export interface Queued {
  /** Whose it is. Keys take turns and share the room. Default: all are of one. */
  readonly key?: string;
  readonly cost: number;
  /** When it has waited too long, by the monotonic clock in milliseconds. Default: never. */
  readonly expiresAt?: number;
  /** Whether somebody still waits for it. Default: somebody does. */
  isWanted?(): boolean;
  /** Called when it leaves the queue without being taken. */
  refuse(cause: unknown): void;
}

/** Late items are searched at most this often. */
const MIN_WATCH_MS = 10;

/** What waits for one key, oldest first. */
interface Line<Item> {
  readonly items: Item[];
  cost: number;
}

/**
 * Items that wait for a batch. Keys take turns; within a key, first in, first out. When the queue is full, the key with the most items
 * loses its newest one, so no key can exclude the others. Items that waited too long or whose caller gave up are dropped.
 */
export class FairQueue<Item extends Queued> {
  /** Maximum total cost of what waits. */
  readonly #maxQueued: number;
  /** In the order of their turns; only keys with items. */
  readonly #lines = new Map<string, Line<Item>>();
  #cost = 0;
  #expiry: NodeJS.Timeout | undefined;
  /** When `#expiry` is due. */
  #watchedAt = Number.POSITIVE_INFINITY;

  constructor(maxQueued: number) {
    this.#maxQueued = maxQueued;
  }

  /** Total cost of what waits. */
  get cost(): number {
    return this.#cost;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** Refuses the item, or others in its place, if there is no room. */
  add(item: Item): void {
    if (!this.#makeRoom(item)) {
      item.refuse(new Error('the queue is full'));
      return;
    }
    const { key = '' } = item;
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, { items: [item], cost: item.cost });
    else {
      line.items.push(item);
      line.cost += item.cost;
    }
    this.#cost += item.cost;
    if (expiryOf(item) < this.#watchedAt) this.#watch(expiryOf(item));
  }

  /** Removes what comes next and fits into `room`; with `oncePerKey`, at most one item of each key. */
  take(room: number, oncePerKey = false): Item[] {
    const taken: Item[] = [];
    const keys = new Set<string>();
    let left = room;
    const now = performance.now();
    // Also visits the keys that are put behind the others meanwhile.
    for (const [key, line] of this.#lines) {
      if (oncePerKey && keys.has(key)) continue;
      const [item] = line.items;
      if (item === undefined || item.cost > left) break;
      line.items.shift();
      this.#lines.delete(key);
      if (line.items.length > 0) this.#lines.set(key, line);
      this.#subtract(line, item);
      if (refuseLate(item, now)) continue;
      left -= item.cost;
      keys.add(key);
      taken.push(item);
    }
    return taken;
  }

  /** Returns false if the item has to be refused itself, because no other key has more. */
  #makeRoom({ key = '', cost }: Item): boolean {
    while (this.#cost + cost > this.#maxQueued) {
      const [largest, line] = this.#findLargest();
      const own = (this.#lines.get(key)?.cost ?? 0) + cost;
      const last = line !== undefined && line.cost > own ? line.items.pop() : undefined;
      if (line === undefined || last === undefined) return false;
      this.#subtract(line, last);
      if (line.items.length === 0) this.#lines.delete(largest);
      last.refuse(new Error('the queue is full'));
    }
    return true;
  }

  #findLargest(): [key: string, line: Line<Item> | undefined] {
    let largest: [string, Line<Item> | undefined] = ['', undefined];
    for (const [key, line] of this.#lines) if (line.cost > (largest[1]?.cost ?? 0)) largest = [key, line];
    return largest;
  }

  #subtract(line: Line<Item>, { cost }: Item): void {
    line.cost -= cost;
    this.#cost -= cost;
  }

  /** Ends waits on time even while nothing is taken. */
  #watch(at: number): void {
    clearTimeout(this.#expiry);
    this.#watchedAt = at;
    if (at === Number.POSITIVE_INFINITY) return;
    const check = () => this.#watch(this.#refuseAllLate());
    this.#expiry = setTimeout(check, Math.max(MIN_WATCH_MS, at - performance.now()));
    this.#expiry.unref();
  }

  /** Returns when the next one will be late. */
  #refuseAllLate(): number {
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [key, line] of this.#lines) {
      const items = line.items.splice(0);
      for (const item of items) {
        if (refuseLate(item, now)) this.#subtract(line, item);
        else {
          line.items.push(item);
          next = Math.min(next, expiryOf(item));
        }
      }
      if (line.items.length === 0) this.#lines.delete(key);
    }
    return next;
  }
}

function expiryOf(item: Queued | undefined): number {
  return item?.expiresAt ?? Number.POSITIVE_INFINITY;
}

/** Returns whether the item was refused. */
function refuseLate(item: Queued, now: number): boolean {
  if (expiryOf(item) <= now) item.refuse(new Error('waited too long'));
  else if (item.isWanted?.() === false) item.refuse(new Error('the caller stopped waiting'));
  else return false;
  return true;
}
