import { hash } from 'node:crypto';
import { parseUuid } from './uuid.ts';

/** A stored batch of a writer's chain. */
export interface ChainedBatch {
  /** UUID of the writer. One process writes one chain. */
  readonly writer: string;
  /** Position in the writer's chain, from 0. */
  readonly seq: number;
  /** Unix milliseconds; equal for all its records. */
  readonly at: number;
  readonly recordCount: number;
  /** The concatenated digests of its records, in order. */
  readonly digests: Uint8Array;
  /** Hash of the previous batch; for the first, the writer's initial hash. */
  readonly previousHash: Uint8Array;
  readonly hash: Uint8Array;
}

const BEGINNING = Buffer.from('phds access record chain 1\n');

/** The initial hash of a chain: SHA-256 of a fixed text and the writer's 16 bytes, so that chains cannot be exchanged. */
export function hashBeginning(writer: string): Buffer {
  return hash('sha256', Buffer.concat([BEGINNING, parseUuid(writer)]), 'buffer');
}

/** SHA-256 of the previous hash, the position (8 bytes, big endian) and the digests. */
export function hashBatch(previousHash: Uint8Array, seq: number, digests: Uint8Array): Buffer {
  const position = Buffer.alloc(8);
  position.writeBigInt64BE(BigInt(seq));
  return hash('sha256', Buffer.concat([previousHash, position, digests]), 'buffer');
}
