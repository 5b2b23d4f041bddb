import { setTimeout as delay } from 'node:timers/promises';

/** A constant rate of arrivals. */
export interface Arrivals {
  readonly perSecond: number;
  readonly seconds: number;
}

/**
 * Starts work at a constant rate, whether or not earlier work is done (an open loop). Latencies measured from the scheduled moment,
 * on `performance.now()`, include waits behind a stall, which a closed loop would hide. Resolves when all work is done.
 */
export async function arrive(
  { perSecond, seconds }: Arrivals,
  act: (index: number, scheduled: number) => Promise<void>,
): Promise<void> {
  const start = performance.now();
  const acts: Promise<void>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const scheduled = start + (index * 1000) / perSecond;
    const wait = scheduled - performance.now();
    if (wait > 0) await delay(wait);
    acts.push(act(index, scheduled));
  }
  await Promise.all(acts);
}
