import type { AccessRecord } from '@phds/record-chain/access-record';
import type { Access, Verdict } from '../domain/access.ts';

/** Why a recorded response was not released. */
export interface Refusal {
  readonly accessRecord: AccessRecord;
  readonly verdict: Verdict;
}

/** The recorded part of an access: no values, no tokens. */
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

/** A separate record, which repeats the fields of the refused one so that it can be counted by itself. */
export function toRefusalRecord(
  { accessRecord, verdict }: Refusal,
  id: Uint8Array,
  at: number,
): AccessRecord {
  return { ...accessRecord, id, at, refersTo: accessRecord.id, verdict };
}
