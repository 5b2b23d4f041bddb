import type { AccessRecord } from '@phds/record-chain/access-record';
import type { Access, Verdict } from '../domain/access.ts';

/** Why a recorded answer did not leave. */
export interface Refusal {
  readonly accessRecord: AccessRecord;
  readonly verdict: Verdict;
}

/** What is kept of an access: never values, never tokens. */
export function toAccessRecord(
  access: Access,
  userRef: Uint8Array,
  id: Uint8Array,
  at: number,
): AccessRecord {
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
export function toRefusalRecord(
  { accessRecord, verdict }: Refusal,
  id: Uint8Array,
  at: number,
): AccessRecord {
  return { ...accessRecord, id, at, refersTo: accessRecord.id, verdict };
}
