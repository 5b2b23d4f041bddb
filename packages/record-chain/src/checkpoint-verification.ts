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

/** What a checkpoint lists is at most a day older than the one before it. The second day covers clocks that differ. */
const LISTED_MS = 2 * 86_400_000;

/** A stored checkpoint. */
export interface StoredCheckpoint {
  readonly number: number;
  readonly jws: string;
}

interface CheckpointSource {
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
  const seen: Seen = { last: null };
  const findHeadFault = createHeadCheck(source);
  for await (const page of source.checkpoints) {
    const { contents, fault: pageFault } = readPage(page, seen, source.keys);
    const fault = (await findHeadFault(contents)) ?? pageFault;
    if (fault !== null) return fault;
    progress.checkpoints += contents.length;
  }
  return null;
}

function keptFromOf(newest: CheckpointContent | null): number {
  return newest === null || newest.keptFrom === null ? Number.NEGATIVE_INFINITY : Date.parse(newest.keptFrom);
}

/** What has been read from the checkpoints so far. */
interface Seen {
  last: (IssuedCheckpoint & { readonly hash: string }) | null;
}

/** A checkpoint, and the earliest time of the heads that it lists, in Unix milliseconds. */
type TimedCheckpoint = IssuedCheckpoint & { readonly earliest: number };

/** The first checkpoint lists every chain. The smaller of two times counts because clocks of signers differ. */
function withEarliest(content: IssuedCheckpoint, { last }: Seen): TimedCheckpoint {
  const earliest =
    last === null ? Number.NEGATIVE_INFINITY : Math.min(last.iat, content.iat) * 1000 - LISTED_MS;
  return { ...content, earliest };
}

/** Reads the contents of a page up to its first fault. */
function readPage(page: readonly StoredCheckpoint[], seen: Seen, keys: readonly KeyObject[]) {
  const contents: TimedCheckpoint[] = [];
  for (const { number, jws } of page) {
    const content = findCheckpointContent(jws, keys);
    const fault = findOrderFault(number, content, seen);
    if (fault !== null || content === null) return { contents, fault };
    contents.push(withEarliest(content, seen));
    seen.last = { ...content, hash: hashCheckpoint(jws) };
  }
  return { contents, fault: null };
}

function findOrderFault(number: number, content: CheckpointContent | null, { last }: Seen): Fault | null {
  if (content === null)
    return checkpointFault('changed', `checkpoint ${number} is not signed by a known key`);
  const expected = (last?.number ?? 0) + 1;
  if (number !== expected) return checkpointFault('removed', `checkpoint ${expected} is gone`);
  if (content.number === number && content.previous === (last?.hash ?? null)) return null;
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
