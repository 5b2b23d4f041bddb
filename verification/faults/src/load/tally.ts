/** What the load saw of one fault. Everything here travels between processes as JSON. */
export interface Tally {
  /** Reads that started after the acknowledgement of what ends their access, and were answered. */
  trials: number;
  /** Those of them that were the first at their gateway, sent as soon as the acknowledgement was there. */
  firstTrials: number;
  /** Reads by what came of them: a status, or `none` where the connection broke or was refused. */
  readonly reads: Record<string, number>;
  /** Acknowledged endings by their kind. */
  readonly endings: Record<string, number>;
  /** Rounds of connecting and ending that were cut short by a refusal and begun anew. */
  setbacks: number;
  /** Longest that anything took to be answered or refused. Milliseconds. */
  slowestMs: number;
  /** What must never be, by the promise that was broken. */
  readonly violations: Record<string, Violation>;
}

/** How often a promise was broken, and how it was the first time. */
export interface Violation {
  count: number;
  readonly first: string;
}

/** The promise that counts most, by its name among the violations. */
export const DATA_AFTER_REVOCATION = 'data after revocation';

export function newTally(): Tally {
  return { trials: 0, firstTrials: 0, reads: {}, endings: {}, setbacks: 0, slowestMs: 0, violations: {} };
}

/** Adds one to a named count. */
export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Notes that a promise was broken. */
export function addViolation({ violations }: Tally, promise: string, how: string): void {
  const violation = violations[promise];
  if (violation === undefined) violations[promise] = { count: 1, first: how };
  else violation.count += 1;
}

/** A sentence for each promise that was broken. */
export function toSentences({ violations }: Tally): string[] {
  return Object.entries(violations).map(([promise, { count: times, first }]) =>
    times === 1 ? `${promise}: ${first}` : `${promise}, ${times} times; the first: ${first}`,
  );
}
