/** What the load observed during one fault. Sent between processes as JSON. */
export interface Tally {
  /** Reads that started after the acknowledged end of their access and were answered. */
  trials: number;
  /** The trials that were the first at their gateway, sent as soon as the acknowledgement arrived. */
  firstTrials: number;
  /** Reads by result: a status, or `none` for a broken or refused connection. */
  readonly reads: Record<string, number>;
  /** Acknowledged endings by their kind. */
  readonly endings: Record<string, number>;
  /** Rounds that a failed request interrupted and that were started again. */
  setbacks: number;
  /** The longest time until a response or refusal. Milliseconds. */
  slowestMs: number;
  /** Violations by the broken promise. */
  readonly violations: Record<string, Violation>;
}

/** The number of violations of a promise, and the first one. */
export interface Violation {
  count: number;
  readonly first: string;
}

/** The most important promise, by its name among the violations. */
export const DATA_AFTER_REVOCATION = 'data after revocation';

export function newTally(): Tally {
  return { trials: 0, firstTrials: 0, reads: {}, endings: {}, setbacks: 0, slowestMs: 0, violations: {} };
}

/** Adds one to a named count. */
export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Records a violation of a promise. */
export function addViolation({ violations }: Tally, promise: string, how: string): void {
  const violation = violations[promise];
  if (violation === undefined) violations[promise] = { count: 1, first: how };
  else violation.count += 1;
}

/** One sentence for each broken promise. */
export function toSentences({ violations }: Tally): string[] {
  return Object.entries(violations).map(([promise, { count: times, first }]) =>
    times === 1 ? `${promise}: ${first}` : `${promise}, ${times} times; the first: ${first}`,
  );
}
