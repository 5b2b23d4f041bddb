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

/** Milliseconds. */
export interface Latencies {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Uses the nearest rank: with fewer than a hundred values, the 99th percentile is the maximum. */
export function summarize(milliseconds: readonly number[]): Latencies {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const rank = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
  return { p50: rank(0.5), p99: rank(0.99), max: rank(1) };
}
