import type { AccessCounter } from './record-ports.ts';

const BATCHES_AT_ONCE = 200;

/** Counts while there is more than fits into one go: under load something is always uncounted, and that is for the next turn. */
export async function countAll(counter: AccessCounter, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await counter.countNext(BATCHES_AT_ONCE)) < BATCHES_AT_ONCE) return;
  }
}
