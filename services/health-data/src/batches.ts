import { invalidRequest, type Violation } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';

/** Counts of the accepted items of a batch. */
export interface WriteCounts {
  readonly inserted: number;
  readonly updated: number;
  /** Already stored with the same value. */
  readonly unchanged: number;
}

/** Why one item of a batch was not stored. */
interface Refusal {
  /** Position in the batch, from 0. */
  readonly index: number;
  readonly reason: string;
}

/** The result of a batch; counts and refusals add up to its items. */
export interface PutResult extends WriteCounts {
  readonly refusals: readonly Refusal[];
}

/** What an importer sends at once, under the name of the parameter. */
interface Batch<Draft> {
  readonly userId: string;
  readonly parameter: string;
  readonly drafts: readonly Draft[];
  readonly max: number;
}

/**
 * Stores the items of a batch that can be parsed, of each id the last; the others of the id count as unchanged. Throws INVALID_REQUEST
 * for the batch itself.
 */
export async function storeBatch<Draft, Row extends { readonly id: string }>(
  { userId, parameter, drafts, max }: Batch<Draft>,
  parse: (draft: Draft) => Row,
  store: (rows: readonly Row[]) => Promise<WriteCounts>,
): Promise<PutResult> {
  parseUserId(userId);
  if (drafts.length < 1 || drafts.length > max)
    throw invalidRequest(parameter, `must hold 1 to ${max.toLocaleString('en')} items`);
  const rows = new Map<string, Row>();
  const refusals: Refusal[] = [];
  for (const [index, draft] of drafts.entries()) {
    try {
      const row = parse(draft);
      rows.set(row.id, row);
    } catch (error) {
      if (!(error instanceof RefusedItem)) throw error;
      refusals.push({ index, reason: error.message });
    }
  }
  const superseded = drafts.length - refusals.length - rows.size;
  const counts = await store([...rows.values()]);
  return { ...counts, unchanged: counts.unchanged + superseded, refusals };
}

/** Parses all keys of a deletion. Throws INVALID_REQUEST naming the invalid ones, before anything is deleted. */
export function parseAll<Draft, Key>(
  parameter: string,
  drafts: readonly Draft[],
  parse: (draft: Draft) => Key,
): Key[] {
  const keys: Key[] = [];
  const violations: Violation[] = [];
  for (const [index, draft] of drafts.entries()) {
    try {
      keys.push(parse(draft));
    } catch (error) {
      if (!(error instanceof RefusedItem)) throw error;
      violations.push({ parameter: `${parameter}[${index}]`, message: error.message });
    }
  }
  if (violations.length > 0) throw invalidRequest(violations);
  return keys;
}

/** Why one item of a batch is not stored; the rest of the batch is processed. The message contains no value of the item. */
export class RefusedItem extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'RefusedItem';
  }
}

const DAY_MS = 86_400_000;
const EARLIEST = Date.UTC(1900, 0, 1);

// Normalised labels only: lower case without spaces excludes names like "Simon's iPhone".
const SOURCE = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const SOURCE_MAX_LENGTH = 40;

/** Throws RefusedItem for an instant more than 24 hours after `now`, or before 1900. */
export function checkMoment(field: string, at: Date, now: Date): void {
  checkNotBefore1900(field, at);
  if (at.getTime() > now.getTime() + DAY_MS) {
    throw new RefusedItem(`${field} is more than 24 hours in the future`);
  }
}

/** Throws RefusedItem for an instant too early for a health record of a living person. */
export function checkNotBefore1900(field: string, at: Date): void {
  if (!(at.getTime() >= EARLIEST)) throw new RefusedItem(`${field} is before 1900`);
}

/** Throws RefusedItem unless the label is normalised, such as `apple-watch`. */
export function checkSource(source: string): void {
  if (!SOURCE.test(source) || source.length > SOURCE_MAX_LENGTH) {
    throw new RefusedItem('source must be a label such as apple-watch, at most 40 characters');
  }
}
