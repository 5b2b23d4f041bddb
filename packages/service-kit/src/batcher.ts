import {
  currentDeadline,
  currentOrigin,
  type Deadline,
  keepContext,
  type Origin,
  withinLastDeadline,
  withinOrigins,
} from './current-work.ts';
import { AppError, unavailable } from './errors.ts';

// A Batcher gathers items that arrive while earlier batches are in flight, and has each batch done by one run. There is no timer: an
// item leaves at the end of the turn of the event loop in which it arrives, or as soon as a batch has ended. So a run always begins
// after the calls of its items, and sees everything that was committed before them. Keys (apps, people) take turns item by item; when
// the queue is full, the key with most loses its newest item. An item waits at most half of its caller's time, so that enough is left
// for the answer; later, or when the caller has given up, it is refused instead of sent. The error of a run is the error of all its
// items, except that an item that cannot be read or stored fails alone. A run ends early when the last of its callers has given up.
// The recorder of accesses adds its items without the deadlines of its callers, so only `maxWaitMs` limits their wait. With batches of
// one item and several at once, it shares turns of work (`createTurns`). It stores nothing and repeats nothing.

export interface BatcherOptions<Item> {
  /** Maximum total cost of the items that wait. Default 2,000. */
  readonly maxQueued?: number;
  /** The same for the items of one key; more are refused. Default: any. */
  readonly maxPerKey?: number;
  /** Items of this key wait as long as it takes: they have neither a limit nor an expiry, and lose no place. Default: none. */
  readonly keptKey?: string;
  /** Maximum wait in milliseconds. Default 15 s. */
  readonly maxWaitMs?: number;
  /** Maximum cost of a batch; no single item has more. Default 64. */
  readonly maxCost?: number;
  /** Default 1. */
  readonly costOf?: (item: Item) => number;
  /** Default: all items are of one key. */
  readonly keyOf?: (item: Item) => string;
  /** Maximum number of items of one key in flight. Default: any. */
  readonly perKey?: number;
  /** Whether somebody still waits for the item, besides its deadline. */
  readonly isWanted?: (item: Item) => boolean;
  /** An item whose caller waits for no more than this is refused, in milliseconds. Default 0. */
  readonly marginMs?: number;
  /** Maximum number of batches in flight, slow ones aside, while items of this total cost wait. Default 1. */
  readonly atOnce?: (waiting: number) => number;
  /** After this many milliseconds, a batch no longer holds up the next ones. Default: it always does. */
  readonly slowMs?: number;
  /** Maximum number of slow batches that hold up nothing. Default: any. */
  readonly maxSlow?: number;
}

/**
 * Returns one result for each item, in order. A run that commits changes calls `requireTimeLeft` before: it throws if a caller has no
 * more time than `marginMs`. The others are then run again without that one.
 */
type Run<Item, Result> = (items: readonly Item[], requireTimeLeft: () => void) => Promise<readonly Result[]>;

/** An item, and the call that waits for its result. */
interface Call<Item, Result> {
  readonly item: Item;
  readonly key: string;
  readonly cost: number;
  readonly deadline: Deadline | undefined;
  readonly origin: Origin | undefined;
  /** By the monotonic clock, in milliseconds. */
  readonly expiresAt: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** The calls of one key, oldest first. */
interface Line<Item, Result> {
  readonly calls: Call<Item, Result>[];
  cost: number;
}

/**
 * For reads by key. One that hangs delays the others for 50 ms; and eight that hang delay them until one of them ends, because more
 * would only take connections.
 */
export const SHORT_READS = { maxCost: 256, slowMs: 50, maxSlow: 8 } as const;

/** Late items are searched at most this often. */
const MIN_WATCH_MS = 10;

export class Batcher<Item, Result> {
  readonly #run: Run<Item, Result>;
  readonly #options: BatcherOptions<Item>;
  /** In the order of their turns; only keys with waiting calls. */
  readonly #lines = new Map<string, Line<Item, Result>>();
  /** Number of items in flight by key, if that is limited. */
  readonly #running = new Map<string, number>();
  #waiting = 0;
  #inFlight = 0;
  #slow = 0;
  #isScheduled = false;
  #expiry: NodeJS.Timeout | undefined;
  #expiryAt = Number.POSITIVE_INFINITY;

  constructor(run: Run<Item, Result>, options: BatcherOptions<Item> = {}) {
    this.#run = run;
    this.#options = options;
  }

  /** Total cost of the items that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Rejects with `unavailable` if the item was not sent. */
  add(item: Item, deadline = currentDeadline()): Promise<Result> {
    const { maxWaitMs = 15_000, keptKey, keyOf, costOf } = this.#options;
    const [key, cost, origin] = [keyOf?.(item) ?? '', costOf?.(item) ?? 1, currentOrigin()];
    const maxMs = key === keptKey ? Number.POSITIVE_INFINITY : maxWaitMs;
    const waitMs = Math.min(maxMs, (deadline?.remainingMs() ?? Number.POSITIVE_INFINITY) / 2);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const expiresAt = performance.now() + waitMs;
    this.#queue({ item, key, cost, deadline, origin, expiresAt, resolve, reject });
    this.#sendSoon();
    return promise;
  }

  #queue(call: Call<Item, Result>): void {
    if (!this.#makeRoom(call)) {
      refuse(call, 'the queue is full');
      return;
    }
    const line = this.#lines.get(call.key) ?? { calls: [], cost: 0 };
    this.#lines.set(call.key, line);
    line.calls.push(call);
    line.cost += call.cost;
    this.#waiting += call.cost;
    this.#watch(call.expiresAt);
  }

  /** Returns false if the call has to be refused itself, because its key has too many, or no other key has more. */
  #makeRoom({ key, cost }: Call<Item, Result>): boolean {
    const { maxQueued = 2_000, maxPerKey = maxQueued, keptKey } = this.#options;
    if (key === keptKey) return true;
    const own = (this.#lines.get(key)?.cost ?? 0) + cost;
    if (own > maxPerKey) return false;
    while (this.#waiting + cost > maxQueued) {
      const largest = this.#findLargest();
      const last = largest !== undefined && largest.cost > own ? largest.calls.at(-1) : undefined;
      if (largest === undefined || last === undefined) return false;
      this.#remove(largest, last);
      refuse(last, 'the queue is full');
    }
    return true;
  }

  #findLargest(): Line<Item, Result> | undefined {
    let largest: Line<Item, Result> | undefined;
    for (const [key, line] of this.#lines) {
      if (key !== this.#options.keptKey && line.cost > (largest?.cost ?? 0)) largest = line;
    }
    return largest;
  }

  #remove(line: Line<Item, Result>, call: Call<Item, Result>): void {
    if (line.calls[0] === call) line.calls.shift();
    else line.calls.splice(line.calls.indexOf(call), 1);
    line.cost -= call.cost;
    this.#waiting -= call.cost;
    if (line.calls.length === 0) this.#lines.delete(call.key);
  }

  get #isBusy(): boolean {
    const { atOnce, maxSlow = Number.POSITIVE_INFINITY } = this.#options;
    return this.#inFlight - Math.min(this.#slow, maxSlow) >= (atOnce?.(this.#waiting) ?? 1);
  }

  #sendSoon(): void {
    if (this.#isScheduled || this.#lines.size === 0 || this.#isBusy) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (!this.#isBusy) {
        const batch = this.#take();
        if (batch.length === 0) return;
        void this.#send(batch);
      }
    });
  }

  #take(): Call<Item, Result>[] {
    const { maxCost = 64, marginMs, isWanted } = this.#options;
    const batch: Call<Item, Result>[] = [];
    const now = performance.now();
    let room = maxCost;
    for (;;) {
      const line = this.#nextLine();
      const call = line?.calls[0];
      if (line === undefined || call === undefined || call.cost > room) return batch;
      this.#remove(line, call);
      if (this.#lines.delete(call.key)) this.#lines.set(call.key, line);
      if (call.expiresAt <= now) refuse(call, 'waited too long');
      else if (isLate(call, marginMs) || isWanted?.(call.item) === false) call.reject(gone());
      else {
        room -= call.cost;
        batch.push(call);
        this.#countRunning(call, 1);
      }
    }
  }

  /** The line with the fewest items in flight, if that is limited; of several, the one whose last turn is longest ago. */
  #nextLine(): Line<Item, Result> | undefined {
    let next: Line<Item, Result> | undefined;
    let { perKey: fewest = 1 } = this.#options;
    for (const [key, line] of this.#lines) {
      const running = this.#running.get(key) ?? 0;
      if (running < fewest) [next, fewest] = [line, running];
      if (fewest === 0) break;
    }
    return next;
  }

  async #send(batch: readonly Call<Item, Result>[]): Promise<void> {
    const { slowMs, marginMs } = this.#options;
    let slow = 0;
    const becomeSlow = () => {
      slow = 1;
      this.#slow += 1;
      this.#sendSoon();
    };
    const timer = slowMs === undefined ? undefined : setTimeout(becomeSlow, slowMs);
    this.#inFlight += 1;
    await answer(this.#run, batch, marginMs);
    clearTimeout(timer);
    this.#inFlight -= 1;
    this.#slow -= slow;
    for (const call of batch) this.#countRunning(call, -1);
    this.#sendSoon();
  }

  #countRunning({ key }: Call<Item, Result>, change: number): void {
    if (this.#options.perKey === undefined) return;
    const running = (this.#running.get(key) ?? 0) + change;
    if (running > 0) this.#running.set(key, running);
    else this.#running.delete(key);
  }

  /** Ends waits on time even while nothing is taken. */
  #watch(at: number): void {
    if (at >= this.#expiryAt) return;
    clearTimeout(this.#expiry);
    this.#expiryAt = at;
    const check = () => {
      this.#expiryAt = Number.POSITIVE_INFINITY;
      this.#watch(this.#refuseLate());
    };
    this.#expiry = setTimeout(check, Math.max(MIN_WATCH_MS, at - performance.now())).unref();
  }

  /** Returns when the next call will be late. */
  #refuseLate(): number {
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const line of this.#lines.values()) {
      for (const call of [...line.calls]) {
        if (call.expiresAt > now) next = Math.min(next, call.expiresAt);
        else {
          this.#remove(line, call);
          refuse(call, 'waited too long');
        }
      }
    }
    return next;
  }
}

/** Has items done together by `run`. */
export function batchingCalls<Item, Result>(run: Run<Item, Result>, options?: BatcherOptions<Item>) {
  const batcher = new Batcher(run, options);
  return (item: Item): Promise<Result> => batcher.add(item);
}

type QueueLimits = Pick<BatcherOptions<unknown>, 'maxQueued' | 'maxPerKey' | 'maxWaitMs' | 'perKey'>;

export interface TurnLimits extends QueueLimits {
  /** Maximum number running at once, over all keys. */
  readonly atOnce: number;
}

/** Runs work of a key when it is its turn. Throws `unavailable` if too many wait, or it waited too long. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createTurns({ atOnce, ...limits }: TurnLimits): Turns {
  const turns = new Batcher<{ key: string; work: () => Promise<unknown> }, unknown>(
    async (items) => Promise.all(items.map(({ work }) => work())),
    { ...limits, maxCost: 1, atOnce: () => atOnce, keyOf: ({ key }) => key },
  );
  return (key, work) => turns.add({ key, work: keepContext(work) }) as Promise<never>;
}

/** Never rejects. */
async function answer<Item, Result>(
  run: Run<Item, Result>,
  batch: readonly Call<Item, Result>[],
  marginMs?: number,
): Promise<void> {
  let late: AppError | undefined;
  const isInTime = (call: Call<Item, Result>) => !isLate(call, marginMs);
  const requireTimeLeft = () => {
    if (batch.every(isInTime)) return;
    late = gone();
    throw late;
  };
  try {
    const deadlines = batch.map(({ deadline }) => deadline);
    const origins = batch.map(({ origin }) => origin);
    const items = batch.map(({ item }) => item);
    const work = () => run(items, requireTimeLeft);
    const results = await withinOrigins(origins, () => withinLastDeadline(deadlines, work));
    // Results that cannot be assigned to their items belong to nobody.
    if (results.length !== batch.length) throw new Error('not one result for each item');
    for (const [index, call] of batch.entries()) settle(call, results[index] as Result);
  } catch (error) {
    const again = error === late ? [batch.filter(isInTime)] : splitAfter(error, batch);
    const kept = new Set(again.flat());
    for (const call of batch) if (!kept.has(call)) call.reject(error);
    // One after the other, so that a batch never has more than one run.
    for (const some of again) if (some.length > 0) await answer(run, some, marginMs);
  }
}

/** Nothing is recorded as read for a caller that has given up. */
function settle<Result>(call: Call<unknown, Result>, result: Result): void {
  if (isLate(call)) call.reject(gone());
  else call.resolve(result);
}

/** The halves of a failed batch if the error is about one of its items, which few runs find, else none. */
function splitAfter<One>(error: unknown, batch: readonly One[]): (readonly One[])[] {
  if (batch.length < 2 || !isAboutOneItem(error)) return [];
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}

/**
 * Whether an item was refused as unusable and nothing was done: by the called service, or by Postgres (SQLSTATE classes 22, a value,
 * and 23, a constraint).
 */
function isAboutOneItem(error: unknown): boolean {
  if (error instanceof AppError) return error.reason === 'invalid_request';
  return error instanceof Error && 'code' in error && /^2[23]...$/.test(`${error.code}`);
}

function isLate({ deadline }: { readonly deadline: Deadline | undefined }, marginMs = 0): boolean {
  return deadline !== undefined && deadline.remainingMs() <= marginMs;
}

function gone(): AppError {
  return unavailable(new Error('the caller stopped waiting'));
}

function refuse({ reject }: { readonly reject: (error: unknown) => void }, why: string): void {
  reject(unavailable(new Error(why)));
}
