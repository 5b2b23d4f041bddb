import type { ChainedRecord } from '@phds/record-chain/record';
import type { Verdict } from '../domain/access.ts';
import type { JudgedAccess } from './record-ports.ts';

/** Why a recorded answer did not leave. */
export interface Refusal {
  readonly record: ChainedRecord;
  readonly verdict: Verdict;
}

/** What is kept of an access: never values, never tokens. */
export function toRecord(access: JudgedAccess, id: Uint8Array, at: number): ChainedRecord {
  const { userRef, clientId, grantId, scope, endpoint, from, to, page, recordCount, requestId } = access;
  const window = { scope, endpoint, from, to, page, recordCount };
  return { id, at, userRef, clientId, grantId, ...window, requestId, refersTo: null, verdict: '' };
}

/** A record of its own, which repeats what it refers to so that it can be counted by itself. */
export function toRefusalRecord({ record, verdict }: Refusal, id: Uint8Array, at: number): ChainedRecord {
  return { ...record, id, at, refersTo: record.id, verdict };
}
