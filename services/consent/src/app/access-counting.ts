import type { AccessCountStore } from './access-ports.ts';

const MOST_BATCHES = 200;

/** Counts until less than a full portion is left. Under load there are always some uncounted; the next run counts those. */
export type AccessCounting = (signal: AbortSignal) => Promise<void>;

/**
 * A portion is what one statement can count in its time: it is halved when a statement fails, down to one batch, and doubled when one
 * succeeds. Otherwise a backlog of large batches would never be counted.
 */
export function createAccessCounting(counter: AccessCountStore): AccessCounting {
  let portion = MOST_BATCHES;
  return async (signal) => {
    while (!signal.aborted) {
      const atMost = portion;
      portion = Math.ceil(atMost / 2);
      const counted = await counter.countNext(atMost);
      portion = Math.min(atMost * 2, MOST_BATCHES);
      if (counted < atMost) return;
    }
  };
}
