import { hash } from 'node:crypto';
import { hashBatch, hashBeginning } from './chain.ts';
import type { Fault } from './fault.ts';
import { type ChainLink, findBrokenLink } from './verification.ts';

/**
 * What operators do is a chain of its own among those of the access records: each entry is a batch of one record, at the position before its
 * number. All processes append to it, one after the other, so that its entries are in one order. Checkpoints sign its end like every other's.
 */
export const OPERATORS = '00000000-0000-0000-0000-000000000000';

/** An entry of the operators' record: an act before it begins, or the outcome of one. Texts that do not apply are empty. */
export interface OperatorEntry {
  /** Ascending without gaps, from 1. */
  readonly number: number;
  /** Unix milliseconds. */
  readonly at: number;
  readonly operator: string;
  /** Full name of the rpc: `package.Service/Rpc`. */
  readonly rpc: string;
  /** Pseudonym of the person (UUID). */
  readonly userRef: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly reason: string;
  readonly requestId: string;
  /** Number of the act that ended; 0 in the entry of an act. */
  readonly ends: number;
  readonly outcome: string;
}

const VERSION = 1;

/** SHA-256 of a JSON array (RFC 8259, without white space, UTF-8) of the version and each field of OperatorEntry, in the order of its declaration. */
function digestOperatorEntry(entry: OperatorEntry): Buffer {
  const { number, at, operator, rpc, userRef, clientId, grantId, reason, requestId, ends, outcome } = entry;
  const ids = [userRef, clientId, grantId];
  const fields = [VERSION, number, at, operator, rpc, ...ids, reason, requestId, ends, outcome];
  return hash('sha256', JSON.stringify(fields), 'buffer');
}

/** The hash of an entry; `previousHash` is null for the first one. */
export function hashOperatorEntry(previousHash: Uint8Array | null, entry: OperatorEntry): Buffer {
  return hashBatch(previousHash ?? hashBeginning(OPERATORS), entry.number - 1, digestOperatorEntry(entry));
}

/** An entry as it is stored. */
export type StoredOperatorEntry = OperatorEntry & { readonly hash: Uint8Array };

/** Recomputes the hashes of the entries, in pages ordered by number, and adds their end to `ends`. Returns the first fault or null. */
export async function findOperatorFault(
  pages: AsyncIterable<readonly StoredOperatorEntry[]>,
  progress: { acts: number; readonly ends: Map<string, ChainLink> },
): Promise<Fault | null> {
  const { ends } = progress;
  for await (const page of pages) {
    for (const entry of page) {
      const { at, number } = entry;
      const previousHash = ends.get(OPERATORS)?.hash ?? hashBeginning(OPERATORS);
      const place = { writer: OPERATORS, seq: number - 1, at, previousHash, hash: entry.hash };
      const fault = findBrokenLink({ ...place, recordCount: 1, digests: digestOperatorEntry(entry) }, ends);
      if (fault !== null) return fault;
      ends.set(OPERATORS, place);
      progress.acts += 1;
    }
  }
  return null;
}
