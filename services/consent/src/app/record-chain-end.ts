import { randomUUID } from 'node:crypto';
import { type ChainedBatch, hashBatch, hashBeginning } from '@phds/record-chain/chain';
import { type ChainedRecord, DIGEST_BYTES, digestRecord } from '@phds/record-chain/record';
import type { RecordBatch } from './record-ports.ts';

/** The end of the chain that this process writes. */
export interface RecordChainEnd {
  /** The batch that would continue the chain. */
  next(at: number, records: readonly ChainedRecord[]): RecordBatch;
  /** The batch is committed: the next continues it. */
  advance(batch: ChainedBatch): void;
  /** Nothing may follow the last batch, as when it is not known whether it was committed: another chain begins. */
  abandon(): void;
}

export function createRecordChainEnd(): RecordChainEnd {
  let writer = randomUUID() as string;
  let seq = 0;
  let previousHash = hashBeginning(writer);
  return {
    next(at, records) {
      const digests = Buffer.allocUnsafe(records.length * DIGEST_BYTES);
      for (const [ordinal, record] of records.entries())
        digests.set(digestRecord(record), ordinal * DIGEST_BYTES);
      const hash = hashBatch(previousHash, seq, digests);
      return { writer, seq, at, recordCount: records.length, digests, previousHash, hash, records };
    },
    advance(batch) {
      seq = batch.seq + 1;
      previousHash = Buffer.from(batch.hash);
    },
    abandon() {
      writer = randomUUID();
      seq = 0;
      previousHash = hashBeginning(writer);
    },
  };
}
