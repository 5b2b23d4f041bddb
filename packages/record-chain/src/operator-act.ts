import { hash } from 'node:crypto';

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

/** The hash before the first entry: SHA-256 of a fixed text. */
export const OPERATOR_BEGINNING: Uint8Array = hash('sha256', 'phds operator record 1\n', 'buffer');

/**
 * SHA-256 of the previous hash and the entry: a JSON array (RFC 8259, without white space, UTF-8) of the version and each field of
 * OperatorEntry, in the order of its declaration.
 */
export function hashOperatorEntry(previousHash: Uint8Array, entry: OperatorEntry): Buffer {
  const { number, at, operator, rpc, userRef, clientId, grantId, reason, requestId, ends, outcome } = entry;
  const fields = [
    VERSION,
    number,
    at,
    operator,
    rpc,
    userRef,
    clientId,
    grantId,
    reason,
    requestId,
    ends,
    outcome,
  ];
  return hash('sha256', Buffer.concat([previousHash, Buffer.from(JSON.stringify(fields))]), 'buffer');
}

/** The end of a verified chain. */
export interface OperatorChainEnd {
  /** 0 for an empty chain. */
  readonly number: number;
  readonly hash: Uint8Array;
}

export const OPERATOR_CHAIN_BEGINNING: OperatorChainEnd = { number: 0, hash: OPERATOR_BEGINNING };

/** Returns the end of the chain after these entries, or the number of the first entry that does not continue it. */
export function continueOperatorChain(
  end: OperatorChainEnd,
  entries: readonly (OperatorEntry & { readonly hash: Uint8Array })[],
): OperatorChainEnd | { readonly brokenAt: number } {
  let last = end;
  for (const entry of entries) {
    const expected = hashOperatorEntry(last.hash, entry);
    if (entry.number !== last.number + 1 || !expected.equals(entry.hash))
      return { brokenAt: last.number + 1 };
    last = { number: entry.number, hash: expected };
  }
  return last;
}
