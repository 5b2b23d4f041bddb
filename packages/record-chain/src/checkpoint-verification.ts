import type { KeyObject } from 'node:crypto';
import {
  type ChainHead,
  type CheckpointContent,
  findCheckpointContent,
  hashCheckpoint,
} from './checkpoint.ts';
import { batchFault, checkpointFault, type Fault } from './fault.ts';
import type { ChainLink, DroppedPart } from './verification.ts';

/** A stored checkpoint. */
export interface StoredCheckpoint {
  readonly number: number;
  readonly jws: string;
}

export interface CheckpointSource {
  /** Pages of all checkpoints, ordered by number. */
  readonly checkpoints: AsyncIterable<readonly StoredCheckpoint[]>;
  readonly keys: readonly KeyObject[];
  readonly dropped: readonly DroppedPart[];
  /** The last verified batch of each writer. */
  readonly ends: ReadonlyMap<string, ChainLink>;
  /** The stored hashes (base64url) of these batches, in order; null for missing batches. */
  findHashes(heads: readonly ChainHead[]): Promise<readonly (string | null)[]>;
}

/**
 * Compares chains that are consistent in themselves with the signed checkpoints. Finds truncated chains, rewritten history, and
 * parts dropped without the policy. Returns the first fault or null.
 */
export async function findCheckpointFault(
  source: CheckpointSource,
  progress: { checkpoints: number } = { checkpoints: 0 },
): Promise<Fault | null> {
  const seen: Seen = { last: null, first: 1, firstKept: 1, keptFrom: Number.NEGATIVE_INFINITY };
  const findHeadFault = createHeadCheck(source);
  for await (const page of source.checkpoints) {
    const { contents, fault: pageFault } = readPage(page, seen, source.keys);
    const fault = (await findHeadFault(contents)) ?? pageFault;
    if (fault !== null) return fault;
    progress.checkpoints += contents.length;
  }
  if (seen.first > seen.firstKept) return checkpointFault('removed', `checkpoint ${seen.firstKept} is gone`);
  const unsigned = source.dropped.find((part) => part.at >= seen.keptFrom);
  if (unsigned === undefined) return null;
  return batchFault(
    'removed',
    unsigned.writer,
    unsigned.seq,
    'no checkpoint states that it was dropped by policy',
  );
}

/** What has been read from the checkpoints so far. */
interface Seen {
  last: { readonly number: number; readonly hash: string } | null;
  /** Number of the first checkpoint present. */
  first: number;
  /** Number of the first checkpoint kept, as signed. */
  firstKept: number;
  keptFrom: number;
}

/** Reads the contents of a page up to its first fault. */
function readPage(page: readonly StoredCheckpoint[], seen: Seen, keys: readonly KeyObject[]) {
  const contents: CheckpointContent[] = [];
  for (const { number, jws } of page) {
    const content = findCheckpointContent(jws, keys);
    const fault = findOrderFault(number, content, seen);
    if (fault !== null || content === null) return { contents, fault };
    seen.first = seen.last === null ? number : seen.first;
    seen.last = { number, hash: hashCheckpoint(jws) };
    seen.firstKept = Math.max(seen.firstKept, content.firstKept ?? 1);
    if (content.keptFrom !== null) seen.keptFrom = Date.parse(content.keptFrom);
    contents.push(content);
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

interface SignedHead extends ChainHead {
  /** Number of the checkpoint that signed it. */
  readonly number: number;
}

/** Compares signed chain heads with the stored hashes, with one look-up for all heads of a page. */
function createHeadCheck({ dropped, ends, findHashes }: CheckpointSource) {
  const droppedSeqs = new Map(dropped.map((part) => [part.writer, part.seq]));
  // Heads listed again, such as those of ended chains, need no further look-up.
  const verified = new Map<string, ChainHead>();
  const isOpen = ({ writer, seq, hash }: ChainHead) => {
    const same = verified.get(writer);
    return seq > (droppedSeqs.get(writer) ?? -1) && (same?.seq !== seq || same.hash !== hash);
  };
  return async (contents: readonly CheckpointContent[]): Promise<Fault | null> => {
    const heads: SignedHead[] = contents.flatMap(({ number, heads }) =>
      heads.filter(isOpen).map((head) => ({ ...head, number })),
    );
    if (heads.length === 0) return null;
    const hashes = await findHashes(heads);
    for (const [index, head] of heads.entries()) {
      const fault = findHeadFault(head, hashes[index] ?? null, ends.get(head.writer)?.seq ?? -1);
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
  if (seq > last)
    return batchFault(
      'removed',
      writer,
      last + 1,
      `checkpoint ${number} signed the chain up to batch ${seq}`,
    );
  if (stored === hash) return null;
  return batchFault('changed', writer, seq, `checkpoint ${number} signed another one`);
}
