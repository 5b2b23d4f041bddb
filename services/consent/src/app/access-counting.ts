import type { AccessCountStore } from './access-ports.ts';

const BATCHES_AT_ONCE = 200;

/** Counts while there is more than fits into one go: under load something is always uncounted, and that is for the next turn. */
export async function countAccessRecords(counter: AccessCountStore, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await counter.countNext(BATCHES_AT_ONCE)) < BATCHES_AT_ONCE) return;
  }
}
