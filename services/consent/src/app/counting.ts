import type { AccessCounter } from './record-ports.ts';

/** Counts until nothing is uncounted. */
export async function countAll(counter: AccessCounter): Promise<void> {
  while ((await counter.countNext()) > 0);
}
