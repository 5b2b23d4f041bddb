import type { AccessCountStore } from './access-ports.ts';

const BATCHES_AT_ONCE = 200;

/** Counts until less than a full batch is left. Under load there are always some uncounted; the next run counts those. */
export async function countAccessRecords(counter: AccessCountStore, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    if ((await counter.countNext(BATCHES_AT_ONCE)) < BATCHES_AT_ONCE) return;
  }
}
