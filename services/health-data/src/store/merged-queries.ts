import { withinOrigins } from '@phds/service-kit/current-origin';
import {
  currentDeadline,
  currentOrigin,
  type Deadline,
  withinLastDeadline,
} from '@phds/service-kit/deadline';
import type { Origin } from '@phds/service-kit/origin';
import { givenUp } from '@phds/service-kit/postgres-client';

export interface MergeOptions<Query, Result> {
  /** Runs one statement; returns one result for each query, in order. */
  readonly run: (queries: readonly Query[]) => Promise<readonly Result[]>;
  /** Maximum number of statements in progress. */
  readonly atOnce: number;
  /** The cost of a query. */
  readonly sizeOf: (query: Query) => number;
  /** Maximum cost of the queries of one statement; no single query has more. */
  readonly maxSize: number;
}

interface Waiting<Query, Result> {
  readonly query: Query;
  readonly deadline: Deadline | undefined;
  readonly origin: Origin | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Merges queries into one statement: those that arrive in one turn of the event loop, and those that arrive while statements are in
 * progress. There is no timer. An error of a statement rejects all of its queries. A caller that gives up ends neither the statement
 * nor the wait of the others; when all have given up, the statement is cancelled.
 */
export class MergedQueries<Query, Result> {
  readonly #options: MergeOptions<Query, Result>;
  #waiting: Waiting<Query, Result>[] = [];
  #running = 0;
  #isScheduled = false;

  constructor(options: MergeOptions<Query, Result>) {
    this.#options = options;
  }

  ask(query: Query): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.push({
      query,
      deadline: currentDeadline(),
      origin: currentOrigin(),
      resolve,
      reject,
    });
    this.#schedule();
    return promise;
  }

  /** Runs the next statement at the end of this turn if it may. */
  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#running >= this.#options.atOnce) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const group = this.#take();
      if (group.length > 0) void this.#run(group);
      this.#schedule();
    });
  }

  /** Takes the oldest queries that fit into a statement. Those whose callers have given up are rejected. */
  #take(): Waiting<Query, Result>[] {
    const { sizeOf, maxSize } = this.#options;
    const waiting = this.#waiting.filter(isInTime);
    let room = maxSize;
    const end = waiting.findIndex(({ query }) => {
      room -= sizeOf(query);
      return room < 0;
    });
    this.#waiting = end === -1 ? [] : waiting.slice(end);
    return end === -1 ? waiting : waiting.slice(0, end);
  }

  /** Never rejects. */
  async #run(group: readonly Waiting<Query, Result>[]): Promise<void> {
    this.#running += 1;
    try {
      const deadlines = group.map(({ deadline }) => deadline);
      const queries = group.map(({ query }) => query);
      const origins = group.map(({ origin }) => origin);
      const run = () => withinOrigins(origins, () => this.#options.run(queries));
      const results = await withinLastDeadline(deadlines, run);
      // Results that cannot be assigned to their queries belong to nobody.
      if (results.length !== group.length) throw new Error('the number of results is wrong');
      // A caller that has given up gets an error, so that nothing is recorded as read for it.
      for (const [index, one] of group.entries()) if (isInTime(one)) one.resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      this.#running -= 1;
      this.#schedule();
    }
  }
}

/** Rejects the query if its caller has given up. */
function isInTime({ deadline, reject }: Pick<Waiting<unknown, unknown>, 'deadline' | 'reject'>): boolean {
  const inTime = deadline === undefined || deadline.remainingMs() > 0;
  if (!inTime) reject(givenUp());
  return inTime;
}
