import { hash } from 'node:crypto';
import { parseUuid } from './uuid.ts';

/** A batch of a writer's chain, as it is stored. */
export interface ChainedBatch {
  /** UUID of the writer: one chain of one process. */
  readonly writer: string;
  /** Position in the writer's chain, from 0. */
  readonly seq: number;
  /** Unix milliseconds; that of each of its records. */
  readonly at: number;
  readonly recordCount: number;
  /** The digests of its records in their order, one after the other. */
  readonly digests: Uint8Array;
  /** Hash of the batch before; of the first, that of the writer's beginning. */
  readonly previousHash: Uint8Array;
  readonly hash: Uint8Array;
}

const BEGINNING = Buffer.from('phds access record chain 1\n');

/** What the first batch of a writer continues: SHA-256 of a fixed text and the writer's 16 bytes, so that chains cannot be swapped. */
export function hashBeginning(writer: string): Buffer {
  return hash('sha256', Buffer.concat([BEGINNING, parseUuid(writer)]), 'buffer');
}

/** SHA-256 of the previous hash, the position (8 bytes, big endian) and the digests. */
export function hashBatch(previousHash: Uint8Array, seq: number, digests: Uint8Array): Buffer {
  const position = Buffer.alloc(8);
  position.writeBigInt64BE(BigInt(seq));
  return hash('sha256', Buffer.concat([previousHash, position, digests]), 'buffer');
}
