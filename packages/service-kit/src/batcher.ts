import {
  currentDeadline,
  currentOrigin,
  type Deadline,
  type Origin,
  withinLastDeadline,
} from './deadline.ts';
import { AppError, unavailable } from './errors.ts';
import { FairQueue, type Queued } from './fair-queue.ts';
import { withinOrigins } from './telemetry/current-origin.ts';

/** An item of a batch. */
export interface Batched<Item, Result> {
  readonly item: Item;
  /** How long its caller waits. */
  readonly deadline: Deadline | undefined;
  readonly origin: Origin | undefined;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

interface Limits<Item> {
  /** Maximum total cost of the items that wait. Default 2,000. */
  readonly maxQueued?: number;
  /** Maximum wait in milliseconds. Default 15 s. */
  readonly maxWaitMs?: number;
  /** Maximum cost of a batch; no single item has more. Default 64. */
  readonly maxCost?: number;
  /** Default 1. */
  readonly costOf?: (item: Item) => number;
  /** Whose the item is; see FairQueue. Default: all are of one. */
  readonly keyOf?: (item: Item) => string;
  /** Whether a batch has at most one item of a key. Default: no. */
  readonly oncePerKey?: boolean;
  /** Whether somebody still waits for the item, besides its deadline. */
  readonly isWanted?: (item: Item) => boolean;
  /** An item whose caller waits for no more than this is refused, in milliseconds. Default 0. */
  readonly marginMs?: number;
  /** Maximum number of batches in flight, slow ones aside, while items of this total cost wait. Default 1. */
  readonly atOnce?: (waiting: number) => number;
  /** After this many milliseconds, a batch with unsettled items no longer holds up the next ones. Default: it always does. */
  readonly slowMs?: number;
  /** Maximum number of slow batches that hold up nothing. Default: any. */
  readonly maxSlow?: number;
}

export interface BatcherOptions<Item, Result> extends Limits<Item> {
  /** Settles every item, each by itself. */
  readonly send: (batch: readonly Batched<Item, Result>[]) => void;
}

const MAX_QUEUED = 2_000;
const MAX_WAIT_MS = 15_000;
const MAX_COST = 64;

/**
 * For reads by key. One that hangs delays the others for 50 ms; and eight that hang delay them until one of them ends, because more
 * would only take connections.
 */
export const SHORT_READS = { maxCost: 256, slowMs: 50, maxSlow: 8 } as const;

/**
 * Gathers what arrives while earlier batches are in flight. There is no timer: an item leaves at the end of the turn of the event loop
 * in which it arrives, or as soon as a batch is settled. An item waits at most half of the time of its caller, so that enough is left
 * for the answer; later, or when the caller has given up, it is refused instead of sent.
 */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  readonly #waiting: FairQueue<Waiting<Item, Result>>;
  #inFlight = 0;
  #slow = 0;
  /** Slow batches that still hold up the next ones, because there are too many others; the oldest first. */
  readonly #overdue = new Set<() => void>();
  #isScheduled = false;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
    this.#waiting = new FairQueue(options.maxQueued ?? MAX_QUEUED);
  }

  /** Rejects with `unavailable` if the item was not sent. */
  add(item: Item, deadline = currentDeadline()): Promise<Result> {
    const { maxWaitMs = MAX_WAIT_MS } = this.#options;
    const waitMs = Math.min(maxWaitMs, (deadline?.remainingMs() ?? Number.POSITIVE_INFINITY) / 2);
    const waiting = new Waiting<Item, Result>(item, this.#options, deadline, waitMs);
    this.#waiting.add(waiting);
    this.#sendSoon();
    return waiting.promise;
  }

  get #isBusy(): boolean {
    return this.#inFlight >= (this.#options.atOnce?.(this.#waiting.cost) ?? 1);
  }

  #sendSoon(): void {
    if (this.#isScheduled || this.#waiting.isEmpty || this.#isBusy) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      while (!this.#isBusy) {
        const batch = this.#waiting.take(this.#options.maxCost ?? MAX_COST, this.#options.oncePerKey);
        if (batch.length === 0) return;
        this.#send(batch);
      }
    });
  }

  #send(batch: readonly Waiting<Item, Result>[]): void {
    const { slowMs, maxSlow = Number.POSITIVE_INFINITY } = this.#options;
    let unsettled = batch.length;
    let isSlow = false;
    this.#inFlight += 1;
    const becomeSlow = () => {
      if (this.#slow >= maxSlow) return this.#overdue.add(becomeSlow);
      this.#overdue.delete(becomeSlow);
      isSlow = true;
      this.#slow += 1;
      this.#inFlight -= 1;
      this.#sendSoon();
    };
    const slow = slowMs === undefined ? undefined : setTimeout(becomeSlow, slowMs);
    const settle = () => {
      unsettled -= 1;
      if (unsettled > 0) return;
      clearTimeout(slow);
      this.#overdue.delete(becomeSlow);
      if (isSlow) this.#slow -= 1;
      else this.#inFlight -= 1;
      for (const oldest of this.#overdue.values().take(1)) oldest();
      this.#sendSoon();
    };
    for (const each of batch) each.onSettled = settle;
    this.#options.send(batch);
  }
}

class Waiting<Item, Result> implements Batched<Item, Result>, Queued {
  readonly item: Item;
  readonly deadline: Deadline | undefined;
  readonly origin = currentOrigin();
  readonly key: string;
  readonly cost: number;
  readonly expiresAt: number;
  onSettled: (() => void) | undefined;
  readonly #options: Limits<Item>;
  readonly #outcome = Promise.withResolvers<Result>();

  constructor(item: Item, options: Limits<Item>, deadline: Deadline | undefined, waitMs: number) {
    this.item = item;
    this.#options = options;
    this.deadline = deadline;
    this.key = options.keyOf?.(item) ?? '';
    this.cost = options.costOf?.(item) ?? 1;
    this.expiresAt = performance.now() + waitMs;
  }

  get promise(): Promise<Result> {
    return this.#outcome.promise;
  }

  isWanted(): boolean {
    return !isLate(this, this.#options.marginMs) && this.#options.isWanted?.(this.item) !== false;
  }

  refuse(cause: unknown): void {
    this.#outcome.reject(unavailable(cause));
  }

  resolve(result: Result): void {
    this.onSettled?.();
    this.#outcome.resolve(result);
  }

  reject(error: unknown): void {
    this.onSettled?.();
    this.#outcome.reject(error);
  }
}

/**
 * Has items answered together by `run`, which returns one result for each, in their order. So what a caller waits for always began
 * after it called, and sees everything that was committed before. An error of a run is the error of all its items, except that an item
 * that cannot be read or stored fails alone. A run ends early when the last of its callers has given up, never with one alone.
 *
 * A run that commits changes calls `requireTimeLeft` before: it throws if a caller has no more time than `marginMs`. The others are
 * then run again without that one.
 */
export function batchingCalls<Item, Result>(run: Run<Item, Result>, limits: Limits<Item> = {}) {
  const send = (batch: readonly Batched<Item, Result>[]) => void answer(run, batch, limits.marginMs);
  const batcher = new Batcher<Item, Result>({ ...limits, send });
  return (item: Item): Promise<Result> => batcher.add(item);
}

type Run<Item, Result> = (items: readonly Item[], requireTimeLeft: () => void) => Promise<readonly Result[]>;

/** Never rejects. */
async function answer<Item, Result>(
  run: Run<Item, Result>,
  batch: readonly Batched<Item, Result>[],
  marginMs?: number,
): Promise<void> {
  let late: AppError | undefined;
  const isInTime = (one: Batched<Item, Result>) => !isLate(one, marginMs);
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
    for (const [index, one] of batch.entries()) settle(one, results[index] as Result);
  } catch (error) {
    const again = error === late ? [batch.filter(isInTime)] : splitAfter(error, batch);
    const kept = new Set(again.flat());
    for (const one of batch) if (!kept.has(one)) one.reject(error);
    // One after the other, so that a batch never has more than one run.
    for (const some of again) if (some.length > 0) await answer(run, some, marginMs);
  }
}

/** The halves of a failed batch if the error is about one of its items, which few runs find, else none. */
function splitAfter<One>(error: unknown, batch: readonly One[]): (readonly One[])[] {
  if (batch.length < 2 || !isAboutOneItem(error)) return [];
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}

/** Nothing is recorded as read for a caller that has given up. */
function settle<Result>(one: Batched<unknown, Result>, result: Result): void {
  if (isLate(one)) one.reject(gone());
  else one.resolve(result);
}

function isLate({ deadline }: Pick<Batched<unknown, unknown>, 'deadline'>, marginMs = 0): boolean {
  return deadline !== undefined && deadline.remainingMs() <= marginMs;
}

function gone(): AppError {
  return unavailable(new Error('the caller stopped waiting'));
}

/**
 * Whether an item was refused as unusable and nothing was done: by the called service, or by Postgres (SQLSTATE classes 22, a value,
 * and 23, a constraint).
 */
function isAboutOneItem(error: unknown): boolean {
  if (error instanceof AppError) return error.reason === 'invalid_request';
  return error instanceof Error && 'code' in error && /^2[23]...$/.test(`${error.code}`);
}
