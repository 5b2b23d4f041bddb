import type { KeyObject } from 'node:crypto';
import {
  type ChainHead,
  type CheckpointContent,
  findCheckpointContent,
  hashCheckpoint,
  type IssuedCheckpoint,
} from './checkpoint.ts';
import { batchFault, checkpointFault, type Fault } from './fault.ts';
import type { ChainLink, DroppedPart } from './verification.ts';

/** Largest ACCESS_CLOCK_TOLERANCE_MS: a record is committed at most that far from its time. */
const DAY_MS = 86_400_000;

/** A stored checkpoint. */
export interface StoredCheckpoint {
  readonly number: number;
  readonly jws: string;
}

export interface CheckpointSource {
  /** Pages of checkpoints, ordered by number. */
  readonly checkpoints: AsyncIterable<readonly StoredCheckpoint[]>;
  /** The newest stored one, which says what was dropped; null without a signed one. */
  readonly newest: CheckpointContent | null;
  readonly keys: readonly KeyObject[];
  readonly dropped: readonly DroppedPart[];
  /** The last verified batch of each writer. */
  readonly ends: ReadonlyMap<string, ChainLink>;
  /** The hashes (base64url) of these batches as they are stored, in order; null for missing batches. */
  findBatches(heads: readonly ChainHead[]): Promise<readonly (string | null)[]>;
}

/**
 * Compares chains that are consistent in themselves with the signed checkpoints. Finds truncated chains, rewritten history, and
 * parts dropped without the policy. Returns the first fault or null.
 */
export async function findCheckpointFault(
  source: CheckpointSource,
  progress: { checkpoints: number } = { checkpoints: 0 },
): Promise<Fault | null> {
  const keptFrom = keptFromOf(source.newest);
  const unsigned = source.dropped.find((part) => part.at >= keptFrom);
  if (unsigned !== undefined) {
    const { writer, seq } = unsigned;
    return batchFault('removed', writer, seq, 'no checkpoint states that it was dropped by policy');
  }
  const seen: Seen = { last: null, first: 1, firstKept: source.newest?.firstKept ?? 1 };
  const findHeadFault = createHeadCheck(source);
  for await (const page of source.checkpoints) {
    const { contents, fault: pageFault } = readPage(page, seen, source.keys);
    const fault = (await findHeadFault(contents)) ?? pageFault;
    if (fault !== null) return fault;
    progress.checkpoints += contents.length;
  }
  if (seen.first > seen.firstKept) return checkpointFault('removed', `checkpoint ${seen.firstKept} is gone`);
  return null;
}

function keptFromOf(newest: CheckpointContent | null): number {
  return newest === null || newest.keptFrom === null ? Number.NEGATIVE_INFINITY : Date.parse(newest.keptFrom);
}

/** What has been read from the checkpoints so far. */
interface Seen {
  last: (IssuedCheckpoint & { readonly hash: string }) | null;
  /** Number of the first checkpoint present. */
  first: number;
  /** Number of the first checkpoint kept, as signed. */
  firstKept: number;
}

/** A checkpoint, and the earliest time of the heads that it lists, in Unix milliseconds. */
type TimedCheckpoint = IssuedCheckpoint & { readonly earliest: number };

/**
 * What a checkpoint lists was committed after the one before it. A base, and one that announces a drop, repeat heads that were signed
 * long ago. The smaller of two times counts because clocks of signers differ.
 */
function withEarliest(content: IssuedCheckpoint, { last }: Seen): TimedCheckpoint {
  const { number, base = number, firstKept = 1, iat } = content;
  const repeats = last === null || base === number || firstKept > (last.firstKept ?? 1);
  const earliest = repeats ? Number.NEGATIVE_INFINITY : Math.min(last.iat, iat) * 1000 - DAY_MS;
  return { ...content, earliest };
}

/** Reads the contents of a page up to its first fault. */
function readPage(page: readonly StoredCheckpoint[], seen: Seen, keys: readonly KeyObject[]) {
  const contents: TimedCheckpoint[] = [];
  for (const { number, jws } of page) {
    const content = findCheckpointContent(jws, keys);
    const fault = findOrderFault(number, content, seen);
    if (fault !== null || content === null) return { contents, fault };
    seen.first = seen.last === null ? number : seen.first;
    contents.push(withEarliest(content, seen));
    seen.last = { ...content, hash: hashCheckpoint(jws) };
    seen.firstKept = Math.max(seen.firstKept, content.firstKept ?? 1);
  }
  return { contents, fault: null };
}

/** If earlier checkpoints were dropped, the first one has no predecessor to compare with. */
function findOrderFault(number: number, content: CheckpointContent | null, { last }: Seen): Fault | null {
  if (content === null)
    return checkpointFault('changed', `checkpoint ${number} is not signed by a known key`);
  if (last !== null && number !== last.number + 1)
    return checkpointFault('removed', `checkpoint ${last.number + 1} is gone`);
  const previous = last === null ? null : last.hash;
  const continues = last === null && number > 1 ? content.previous !== null : content.previous === previous;
  if (content.number === number && continues) return null;
  return checkpointFault('moved', `checkpoint ${number} does not continue the one before it`);
}

/** With the checkpoint that signed it. */
type SignedHead = ChainHead & Pick<TimedCheckpoint, 'number' | 'earliest'>;

/** Compares signed chain heads with the stored hashes, with one look-up for all heads of a page. */
function createHeadCheck({ dropped, newest, ends, findBatches }: CheckpointSource) {
  const keptFrom = keptFromOf(newest);
  const droppedSeqs = new Map(dropped.map((part) => [part.writer, part.seq]));
  // Heads listed again, such as those of ended chains, need no further look-up.
  const verified = new Map<string, ChainHead>();
  const isOpen = ({ writer, seq, hash, earliest }: SignedHead) => {
    const same = verified.get(writer);
    // Policy drops nothing of the time from which records are kept, whatever the unsigned rows of dropped parts say.
    const isDropped = seq <= (droppedSeqs.get(writer) ?? -1) && earliest < keptFrom;
    return !isDropped && (same?.seq !== seq || same.hash !== hash);
  };
  return async (contents: readonly TimedCheckpoint[]): Promise<Fault | null> => {
    const heads = contents.flatMap(({ number, earliest, heads }) =>
      heads.map((head): SignedHead => ({ ...head, number, earliest })).filter(isOpen),
    );
    if (heads.length === 0) return null;
    const batches = await findBatches(heads);
    for (const [index, head] of heads.entries()) {
      const stored = batches[index] ?? null;
      const fault = findHeadFault(head, stored, ends.get(head.writer)?.seq ?? -1);
      if (fault !== null) return fault;
      verified.set(head.writer, head);
    }
    return null;
  };
}

function findHeadFault(
  { writer, seq, hash, number }: SignedHead,
  stored: string | null,
  last: number,
): Fault | null {
  if (stored === null)
    return batchFault(
      'removed',
      writer,
      last + 1,
      `checkpoint ${number} signed the chain up to batch ${seq}`,
    );
  if (stored === hash) return null;
  return batchFault('changed', writer, seq, `checkpoint ${number} signed another one`);
}
