import type { ChainedBatch } from '@phds/record-chain/chain';
import { type ChainHead, readCheckpointContent } from '@phds/record-chain/checkpoint';
import type { StoredCheckpoint, StoredHead } from '@phds/record-chain/checkpoint-verification';
import { parseUuid } from '@phds/record-chain/uuid';
import type { DroppedPart, StoredAccessRecord } from '@phds/record-chain/verification';
import { NotConfigured } from '../connection.ts';
import type { RecordsSnapshot } from './connection.ts';

const DAY_MS = 86_400_000;

/** Which part of the records: a UTC month, what may have been recorded after a checkpoint, a time, or, if null, all. */
export type RangeChoice =
  | { readonly month: string }
  | { readonly fromCheckpoint: number }
  /** Null for no limit; `to` is exclusive. */
  | { readonly from: Date | null; readonly to: Date | null }
  | null;

export interface RecordsRange {
  /** An instant of RFC 3339, or `-infinity`. */
  readonly from: string;
  /** Exclusive; null for everything from then on. */
  readonly to: string | null;
  /** Number of the first checkpoint that is read; null for the last one signed before the range. */
  readonly firstCheckpoint: number | null;
}

export const EVERYTHING: RecordsRange = { from: '-infinity', to: null, firstCheckpoint: 1 };

export async function findRange(snapshot: RecordsSnapshot, choice: RangeChoice): Promise<RecordsRange> {
  if (choice === null) return EVERYTHING;
  if ('month' in choice) return toMonth(choice.month);
  if ('from' in choice) {
    const [from, to] = [choice.from, choice.to].map((time) => time?.toISOString() ?? null);
    return { from: from ?? EVERYTHING.from, to: to ?? null, firstCheckpoint: from == null ? 1 : null };
  }
  const number = choice.fromCheckpoint;
  const [checkpoint] = await snapshot.query<{ jws: string }>(
    'SELECT jws FROM consent_audit.access_checkpoint WHERE number = $1',
    [number],
  );
  if (checkpoint === undefined) throw new NotConfigured(`There is no checkpoint ${number}.`);
  // A record is committed up to ACCESS_CLOCK_TOLERANCE_MS, at most a day, after its time.
  const from = new Date(readCheckpointContent(checkpoint.jws).iat * 1000 - DAY_MS).toISOString();
  return { ...EVERYTHING, from, firstCheckpoint: number };
}

function toMonth(month: string): RecordsRange {
  const from = new Date(`${month}-01T00:00:00Z`);
  const to = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1));
  return { from: from.toISOString(), to: to.toISOString(), firstCheckpoint: null };
}

const RECORDS_A_PAGE = 2_000;
const BATCHES_A_PAGE = 100;
const CHECKPOINTS_A_PAGE = 200;

const MILLISECONDS = '(extract(epoch FROM at) * 1000)::float8 AS at';
const TIMES = '(at >= $1::timestamptz AND ($2::timestamptz IS NULL OR at < $2::timestamptz))';

/** The batches of a range, ordered by time. */
export function readBatches(
  snapshot: RecordsSnapshot,
  { from, to }: RecordsRange,
): AsyncIterable<ChainedBatch[]> {
  return snapshot.pages<ChainedBatch>(
    `SELECT writer::text, seq::float8, ${MILLISECONDS}, record_count AS "recordCount", digests,
       previous_hash AS "previousHash", hash
     FROM access_batch b WHERE ${TIMES} ORDER BY b.at, b.writer, b.seq`,
    BATCHES_A_PAGE,
    [from, to],
  );
}

type RecordRow = Omit<StoredAccessRecord, 'id' | 'userRef' | 'refersTo'> & {
  readonly id: string;
  readonly userRef: string;
  readonly refersTo: string | null;
};

/** The records of a range, ordered by id, which begins with the time. */
export async function* readRecords(
  snapshot: RecordsSnapshot,
  { from, to }: RecordsRange,
): AsyncGenerator<StoredAccessRecord[]> {
  const pages = snapshot.pages<RecordRow>(
    `SELECT id::text, writer::text, seq::float8, ordinal, ${MILLISECONDS}, user_ref::text AS "userRef",
       client_id AS "clientId", grant_id AS "grantId", scope, endpoint, window_from AS "from", window_to AS "to", page,
       record_count AS "recordCount", request_id AS "requestId", refers_to::text AS "refersTo",
       coalesce(verdict, '') AS verdict
     FROM access_record r WHERE ${idsFrom(1)} ORDER BY r.id`,
    RECORDS_A_PAGE,
    [from, to],
  );
  for await (const rows of pages) yield rows.map(toStoredAccessRecord);
}

/** SQL of an instant as text (RFC 3339, UTC), with milliseconds or microseconds. */
export function instantText(instant: string, precision: 'MS' | 'US' = 'MS'): string {
  return `to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.${precision}"Z"')`;
}

/** The condition that a record `r` is of a range, whose limits are the parameters from this number on. */
export function idsFrom(parameter: number): string {
  return `r.id >= first_id_of($${parameter}::timestamptz)
    AND r.id <= coalesce(first_id_of($${parameter + 1}::timestamptz), 'ffffffff-ffff-ffff-ffff-ffffffffffff')`;
}

function toStoredAccessRecord(row: RecordRow): StoredAccessRecord {
  const refersTo = row.refersTo === null ? null : parseUuid(row.refersTo);
  return { ...row, id: parseUuid(row.id), userRef: parseUuid(row.userRef), refersTo };
}

/** The latest dropped part of each chain that has one. */
export function readDropped(snapshot: RecordsSnapshot): Promise<DroppedPart[]> {
  return snapshot.query<DroppedPart>(
    `SELECT DISTINCT ON (d.writer) writer::text, seq::float8, ${MILLISECONDS}, hash
     FROM consent_audit.access_dropped d ORDER BY d.writer, d.seq DESC`,
  );
}

/** Of each chain with batches in a range, the last batch before it. */
export function readBeginnings(
  snapshot: RecordsSnapshot,
  { from, to }: RecordsRange,
): Promise<DroppedPart[]> {
  // Jumps from writer to writer in the index, whatever the number of batches.
  return snapshot.query<DroppedPart>(
    `WITH RECURSIVE part AS NOT MATERIALIZED (
       SELECT writer FROM access_batch WHERE ${TIMES}
     ), chain AS (
       (SELECT writer FROM part ORDER BY writer LIMIT 1)
       UNION ALL
       SELECT (SELECT p.writer FROM part p WHERE p.writer > chain.writer ORDER BY p.writer LIMIT 1)
       FROM chain WHERE chain.writer IS NOT NULL
     )
     SELECT b.writer::text, b.seq::float8, ${MILLISECONDS}, b.hash
     FROM chain CROSS JOIN LATERAL (
       SELECT * FROM access_batch WHERE writer = chain.writer AND at < $1::timestamptz ORDER BY seq DESC LIMIT 1) b`,
    [from, to],
  );
}

/**
 * The checkpoints of a range, up to the first base that was signed after it: that one lists all chains of its month and the month before,
 * so no chain of the range is missing.
 */
export async function* readCheckpoints(
  snapshot: RecordsSnapshot,
  first: number,
  { to }: RecordsRange,
): AsyncGenerator<StoredCheckpoint[]> {
  const pages = snapshot.pages<StoredCheckpoint>(
    'SELECT number, jws FROM consent_audit.access_checkpoint WHERE number >= $1 ORDER BY number',
    CHECKPOINTS_A_PAGE,
    [first],
  );
  for await (const page of pages) {
    const last = to === null ? -1 : page.findIndex(({ jws }) => isBaseAfter(jws, Date.parse(to)));
    yield last === -1 ? page : page.slice(0, last + 1);
    if (last !== -1) return;
  }
}

function isBaseAfter(jws: string, time: number): boolean {
  const { number, base = number, iat } = readCheckpointContent(jws);
  return base === number && iat * 1000 >= time;
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

/** These batches, in order; null for missing batches. */
export async function findStoredHeads(
  snapshot: RecordsSnapshot,
  heads: readonly ChainHead[],
): Promise<(StoredHead | null)[]> {
  const rows = await snapshot.query<{ hash: Buffer | null; at: number }>(
    `SELECT hash, ${MILLISECONDS} FROM unnest($1::uuid[], $2::bigint[]) WITH ORDINALITY AS head(writer, seq, ord)
     LEFT JOIN LATERAL (SELECT hash, at FROM access_batch WHERE writer = head.writer AND seq = head.seq LIMIT 1) b ON true
     ORDER BY head.ord`,
    [heads.map((head) => head.writer), heads.map((head) => head.seq)],
  );
  return rows.map(({ hash, at }) => (hash === null ? null : { hash: hash.toString('base64url'), at }));
}
