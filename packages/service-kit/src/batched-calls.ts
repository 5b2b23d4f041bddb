import { withinOrigins } from './current-origin.ts';
import { currentOrigin, withoutDeadline } from './deadline.ts';
import type { Origin } from './origin.ts';

/** Maximum number of items of one run. */
const MAX_ITEMS = 64;

/** How long a run holds up the callers after it, in milliseconds. A run that hangs delays the others no longer than this. */
const PATIENCE_MS = 50;

interface Caller<Item, Result> {
  readonly item: Item;
  readonly origin: Origin | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Answers callers together: the first ones at once, those that arrive meanwhile by the next run. So what a caller waits for always
 * began after it called, and sees everything that was committed before. `run` returns one result for each item, in their order; if
 * it throws, all of its callers get the error. It does not observe their deadlines.
 */
export function batchingCalls<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Caller<Item, Result>[] = [];
  let isBusy = false;

  const start = () => {
    const callers = waiting.splice(0, MAX_ITEMS);
    isBusy = callers.length > 0;
    if (!isBusy) return;
    let isOver = false;
    const goOn = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(patience);
      start();
    };
    const patience = setTimeout(goOn, PATIENCE_MS);
    void answer(callers).then(goOn);
  };

  const answer = async (callers: readonly Caller<Item, Result>[]) => {
    try {
      const origins = callers.map(({ origin }) => origin);
      const runAll = () => run(callers.map(({ item }) => item));
      const results = await withoutDeadline(() => withinOrigins(origins, runAll));
      if (results.length !== callers.length) throw new Error('not one result for each item');
      results.forEach((result, index) => {
        callers[index]?.resolve(result);
      });
    } catch (error) {
      for (const { reject } of callers) reject(error);
    }
  };

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    waiting.push({ item, origin: currentOrigin(), resolve, reject });
    if (!isBusy) {
      isBusy = true;
      // Not at once, so that one caller's items go together.
      queueMicrotask(start);
    }
    return promise;
  };
}
