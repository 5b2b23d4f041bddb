import type { KeyObject } from 'node:crypto';
import { type ChainHead, findCheckpointContent, hashCheckpoint } from './checkpoint.ts';
import { batchFault, checkpointFault, type Fault } from './fault.ts';
import type { ChainLink, DroppedPart } from './verification.ts';

/** A checkpoint as it is stored. */
export interface StoredCheckpoint {
  readonly number: number;
  readonly jws: string;
}

export interface CheckpointSource {
  /** Pages of all checkpoints, ordered by number. */
  readonly checkpoints: AsyncIterable<readonly StoredCheckpoint[]>;
  readonly keys: readonly KeyObject[];
  readonly dropped: readonly DroppedPart[];
  /** The last batch of each writer, as verified. */
  readonly ends: ReadonlyMap<string, ChainLink>;
  /** The stored hashes (base64url) of these batches, in order; null where there is none. */
  findHashes(heads: readonly ChainHead[]): Promise<readonly (string | null)[]>;
}

/**
 * Compares chains that verified by themselves with what checkpoints signed about them: finds a tail that was cut off, a
 * history that was written anew, and parts that are gone without the policy. Answers the first fault or null.
 */
export async function findCheckpointFault(
  source: CheckpointSource,
  progress: { checkpoints: number } = { checkpoints: 0 },
): Promise<Fault | null> {
  const seen: Seen = { number: 0, previous: null, keptFrom: Number.NEGATIVE_INFINITY };
  for await (const page of source.checkpoints) {
    for (const checkpoint of page) {
      const fault = await findFaultOf(checkpoint, seen, source);
      if (fault !== null) return fault;
      progress.checkpoints = seen.number;
    }
  }
  const unsigned = source.dropped.find((part) => part.at >= seen.keptFrom);
  if (unsigned === undefined) return null;
  return batchFault(
    'removed',
    unsigned.writer,
    unsigned.seq,
    'no checkpoint says that it was dropped by policy',
  );
}

/** What the checkpoints so far have said. */
interface Seen {
  number: number;
  /** Hash of the last one. */
  previous: string | null;
  keptFrom: number;
}

async function findFaultOf(
  { number, jws }: StoredCheckpoint,
  seen: Seen,
  source: CheckpointSource,
): Promise<Fault | null> {
  const content = findCheckpointContent(jws, source.keys);
  if (content === null)
    return checkpointFault('changed', `checkpoint ${number} is not signed by a known key`);
  const expected = seen.number + 1;
  if (number !== expected) return checkpointFault('removed', `checkpoint ${expected} is gone`);
  if (content.number !== number || content.previous !== seen.previous) {
    return checkpointFault('moved', `checkpoint ${number} does not continue the one before it`);
  }
  const fault = await findHeadFault(source, number, content.heads);
  if (fault !== null) return fault;
  seen.number = number;
  seen.previous = hashCheckpoint(jws);
  if (content.keptFrom !== null) seen.keptFrom = Date.parse(content.keptFrom);
  return null;
}

async function findHeadFault(
  { dropped, ends, findHashes }: CheckpointSource,
  number: number,
  heads: readonly ChainHead[],
): Promise<Fault | null> {
  const kept = heads.filter(
    (head) => !dropped.some((part) => part.writer === head.writer && part.seq >= head.seq),
  );
  const hashes = await findHashes(kept);
  for (const [index, { writer, seq, hash }] of kept.entries()) {
    const last = ends.get(writer)?.seq ?? -1;
    if (seq > last) {
      return batchFault(
        'removed',
        writer,
        last + 1,
        `checkpoint ${number} signed the chain up to batch ${seq}`,
      );
    }
    if (hashes[index] !== hash) {
      return batchFault('changed', writer, seq, `checkpoint ${number} signed another one`);
    }
  }
  return null;
}
