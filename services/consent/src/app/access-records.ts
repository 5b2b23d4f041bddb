import type { ChainedRecord } from '@phds/record-chain/record';
import type { Access, Verdict } from '../domain/access.ts';

/** Why a recorded answer did not leave. */
export interface Refusal {
  readonly record: ChainedRecord;
  readonly verdict: Verdict;
}

/** What is kept of an access: never values, never tokens. */
export function toRecord(access: Access, userRef: Uint8Array, id: Uint8Array, at: number): ChainedRecord {
  const { clientId, grantId, scope, endpoint, from, to, page, recordCount, requestId } = access;
  return {
    id,
    at,
    userRef,
    clientId,
    grantId,
    scope,
    endpoint,
    from,
    to,
    page,
    recordCount,
    requestId,
    refersTo: null,
    verdict: '',
  };
}

/** A record of its own, which repeats what it refers to so that it can be counted by itself. */
export function toRefusalRecord({ record, verdict }: Refusal, id: Uint8Array, at: number): ChainedRecord {
  return { ...record, id, at, refersTo: record.id, verdict };
}
