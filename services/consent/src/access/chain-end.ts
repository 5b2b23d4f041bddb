import { randomUUID } from 'node:crypto';
import { type AccessRecord, DIGEST_BYTES, digestAccessRecord } from '@phds/record-chain/access-record';
import { type ChainedBatch, hashBatch, hashBeginning } from '@phds/record-chain/chain';
import type { AccessRecordBatch } from './statements.ts';

/** The end of the chain written by this process. */
export interface ChainEnd {
  /** Creates the batch that would continue the chain. */
  next(at: number, accessRecords: readonly AccessRecord[]): AccessRecordBatch;
  /** Records that the batch is committed, so that the next one continues it. */
  advance(batch: ChainedBatch): void;
  /** Starts another chain, for example when it is unknown whether the last batch was committed. */
  restart(): void;
}

export function createChainEnd(): ChainEnd {
  let writer = randomUUID() as string;
  let seq = 0;
  let previousHash = hashBeginning(writer);
  return {
    next(at, accessRecords) {
      const digests = Buffer.allocUnsafe(accessRecords.length * DIGEST_BYTES);
      for (const [ordinal, accessRecord] of accessRecords.entries())
        digests.set(digestAccessRecord(accessRecord), ordinal * DIGEST_BYTES);
      const hash = hashBatch(previousHash, seq, digests);
      return {
        writer,
        seq,
        at,
        recordCount: accessRecords.length,
        digests,
        previousHash,
        hash,
        accessRecords,
      };
    },
    advance(batch) {
      seq = batch.seq + 1;
      previousHash = Buffer.from(batch.hash);
    },
    restart() {
      writer = randomUUID();
      seq = 0;
      previousHash = hashBeginning(writer);
    },
  };
}
