/** Milliseconds. */
export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Uses the nearest rank: with fewer than a hundred values, the 99th percentile is the maximum. */
export function summarize(milliseconds: readonly number[]): Latencies {
  const sorted = [...milliseconds].sort((a, b) => a - b);
  const rank = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
  return { count: sorted.length, p50: rank(0.5), p99: rank(0.99), max: rank(1) };
}
