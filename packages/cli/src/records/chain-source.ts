import { type ChainedBatch, parseUuid } from '@phds/record-chain/chain';
import type { ChainHead } from '@phds/record-chain/checkpoint';
import type { StoredCheckpoint } from '@phds/record-chain/checkpoint-verification';
import { OPERATORS, type StoredOperatorEntry } from '@phds/record-chain/operator-act';
import type { DroppedPart, StoredAccessRecord } from '@phds/record-chain/verification';
import type { RecordsSnapshot } from './connection.ts';

const RECORDS_A_PAGE = 2_000;
const BATCHES_A_PAGE = 100;
const CHECKPOINTS_A_PAGE = 200;

const MILLISECONDS = '(extract(epoch FROM at) * 1000)::float8 AS at';

/** All batches, ordered by time. */
export function readBatches(snapshot: RecordsSnapshot): AsyncIterable<ChainedBatch[]> {
  return snapshot.pages<ChainedBatch>(
    `SELECT writer::text, seq::float8, ${MILLISECONDS}, record_count AS "recordCount", digests,
       previous_hash AS "previousHash", hash
     FROM access_batch b ORDER BY b.at, b.writer, b.seq`,
    BATCHES_A_PAGE,
  );
}

type RecordRow = Omit<StoredAccessRecord, 'id' | 'userRef' | 'refersTo'> & {
  readonly id: string;
  readonly userRef: string;
  readonly refersTo: string | null;
};

/** All records, ordered by id, which begins with the time. */
export async function* readRecords(snapshot: RecordsSnapshot): AsyncGenerator<StoredAccessRecord[]> {
  const pages = snapshot.pages<RecordRow>(
    `SELECT id::text, writer::text, seq::float8, ordinal, ${MILLISECONDS}, user_ref::text AS "userRef",
       client_id AS "clientId", grant_id AS "grantId", scope, endpoint, window_from AS "from", window_to AS "to", page,
       record_count AS "recordCount", request_id AS "requestId", refers_to::text AS "refersTo",
       coalesce(verdict, '') AS verdict
     FROM access_record r ORDER BY r.id`,
    RECORDS_A_PAGE,
  );
  for await (const rows of pages) yield rows.map(toStoredAccessRecord);
}

function toStoredAccessRecord(row: RecordRow): StoredAccessRecord {
  const refersTo = row.refersTo === null ? null : parseUuid(row.refersTo);
  return { ...row, id: parseUuid(row.id), userRef: parseUuid(row.userRef), refersTo };
}

/** What operators did, ordered by number. */
export function readActs(snapshot: RecordsSnapshot): AsyncIterable<StoredOperatorEntry[]> {
  return snapshot.pages<StoredOperatorEntry>(
    `SELECT number::float8, ${MILLISECONDS}, operator, rpc, coalesce(user_ref::text, '') AS "userRef", client_id AS "clientId",
       grant_id AS "grantId", reason, request_id AS "requestId", ends::float8, outcome, hash
     FROM consent_audit.operator_act a ORDER BY a.number`,
    RECORDS_A_PAGE,
  );
}

/** The latest dropped part of each chain that has one. */
export function readDropped(snapshot: RecordsSnapshot): Promise<DroppedPart[]> {
  return snapshot.query<DroppedPart>(
    `SELECT DISTINCT ON (d.writer) writer::text, seq::float8, ${MILLISECONDS}, hash
     FROM consent_audit.access_dropped d ORDER BY d.writer, d.seq DESC`,
  );
}

/** All checkpoints, ordered by number. */
export function readCheckpoints(snapshot: RecordsSnapshot): AsyncIterable<StoredCheckpoint[]> {
  return snapshot.pages<StoredCheckpoint>(
    'SELECT number, jws FROM consent_audit.access_checkpoint ORDER BY number',
    CHECKPOINTS_A_PAGE,
  );
}

export async function findNewestCheckpoint(snapshot: RecordsSnapshot): Promise<string | null> {
  const [newest] = await snapshot.query<StoredCheckpoint>(
    'SELECT number, jws FROM consent_audit.access_checkpoint ORDER BY number DESC LIMIT 1',
  );
  return newest?.jws ?? null;
}

/** By number. */
export async function findStoredCheckpoints(
  snapshot: RecordsSnapshot,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const rows = await snapshot.query<StoredCheckpoint>(
    'SELECT number, jws FROM consent_audit.access_checkpoint WHERE number = ANY($1::bigint[])',
    [numbers],
  );
  return new Map(rows.map(({ number, jws }) => [number, jws]));
}

/** The hashes (base64url) of these batches, in order; null for missing batches. */
export async function findStoredHeads(
  snapshot: RecordsSnapshot,
  heads: readonly ChainHead[],
): Promise<(string | null)[]> {
  const rows = await snapshot.query<{ hash: Buffer | null }>(
    `SELECT hash FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS head(writer, seq, ord)
     LEFT JOIN LATERAL (
       SELECT hash FROM access_batch WHERE writer = head.writer AND seq = head.seq
       UNION ALL SELECT hash FROM consent_audit.operator_act WHERE head.writer = '${OPERATORS}' AND number = head.seq + 1
       LIMIT 1) b ON true
     ORDER BY head.ord`,
    [heads.map((head) => head.writer), heads.map((head) => head.seq)],
  );
  return rows.map(({ hash }) => hash?.toString('base64url') ?? null);
}
