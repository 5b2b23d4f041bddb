import { parseUuid } from '@phds/record-chain/uuid';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import { Unverified } from '@phds/service-kit/restore-witness';
import type pg from 'pg';
import type { AccessRecordBatch, AccessRecordStore } from '../app/access-ports.ts';
import { ClocksDiffer } from '../app/clock-difference.ts';
import type { Access, Judgement } from '../domain/access.ts';
import { byteaArray, int4Array, int8Array, textArray, uuidArray } from './binary-arrays.ts';
import { unverifiedBy } from './restore-guard.ts';

/**
 * Planner settings for the pool of this file. Every statement here joins a handful of items to tables by their keys, so one
 * plan serves for good: nested loops over indexes, planned once, also when it was planned while the tables were empty.
 */
export const ACCESS_POOL_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  enable_seqscan: 'off',
  jit: 'off',
} as const;

export const FIND_REFS = 'SELECT id, user_ref::text FROM consent_grant WHERE id = ANY($1::text[])';

/** Whether the record's time, by the clock of this process, is that of the database, give or take $21 milliseconds. */
const IS_IN_TIME = 'abs(extract(epoch FROM $3::timestamptz - statement_timestamp())) * 1000 <= $21::float8';

// One statement: a batch is there with all of its records or not at all, and is uncounted from then on. Answers nothing, or the
// database's clock where it differs too much and nothing was written.
const INSERT = `
  WITH batch AS (
    INSERT INTO access_batch (writer, seq, at, record_count, digests, previous_hash, hash)
    SELECT $1::uuid, $2::bigint, $3, $4::int, $5::bytea, $6::bytea, $7::bytea WHERE ${IS_IN_TIME}
  ), uncounted AS (
    INSERT INTO access_uncounted (writer, seq, at) SELECT $1, $2, $3 WHERE ${IS_IN_TIME}
  ), records AS (
    INSERT INTO access_record (id, writer, seq, ordinal, at, user_ref, client_id, grant_id, scope, endpoint, window_from,
      window_to, page, record_count, request_id, refers_to, verdict)
    SELECT i.id, $1, $2, i.ord - 1, $3, i.user_ref, i.client_id, i.grant_id, i.scope, i.endpoint, i.window_from, i.window_to,
      i.page, i.record_count, i.request_id, i.refers_to, i.verdict
    FROM unnest($8::uuid[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
      $16::int[], $17::int[], $18::text[], $19::uuid[], $20::text[]) WITH ORDINALITY AS i(id, user_ref, client_id, grant_id,
      scope, endpoint, window_from, window_to, page, record_count, request_id, refers_to, verdict, ord)
    WHERE ${IS_IN_TIME}
  )
  SELECT statement_timestamp() WHERE NOT ${IS_IN_TIME}`;

// Exported for the test of its plan. The first cause that applies is told. Any cause but the last three hides that there ever was a consent.
export const JUDGE = `
  WITH restores AS MATERIALIZED (
    SELECT s.below, ${unverifiedBy('$10', '$11')} AS unverified FROM consent_audit.suspension s
  )
  SELECT CASE
    WHEN to_timestamp(i.token_expires_at) <= statement_timestamp() THEN 'token_expired'
    WHEN a.status IS DISTINCT FROM 'active' THEN 'app_not_alive'
    WHEN f.family_id IS NOT NULL THEN 'family_revoked'
    WHEN t.token_hash IS NOT NULL THEN 'token_revoked'
    WHEN g.id IS NULL OR g.revoked_at IS NOT NULL OR g.user_id <> i.user_id OR g.client_id <> i.client_id
      OR g.app_epoch <> a.epoch THEN 'grant_revoked'
    WHEN r.unverified THEN 'unverified'
    WHEN g.restore_number < r.below THEN 'restore_unconfirmed'
    WHEN g.expires_at <= statement_timestamp() THEN 'grant_expired'
    WHEN i.scope <> ALL (g.scopes) THEN 'scope_withdrawn'
    WHEN coalesce(to_char(g.data_from, 'YYYY-MM-DD'), '') <> i.data_from THEN 'window_changed'
    WHEN g.user_ref <> i.user_ref THEN 'reference_differs'
    ELSE 'released' END
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::text[], $8::text[],
    $9::uuid[]) WITH ORDINALITY
    AS i(client_id, user_id, grant_id, family_id, token_hash, token_expires_at, scope, data_from, user_ref, ord)
  LEFT JOIN app a ON a.client_id = i.client_id
  LEFT JOIN consent_grant g ON g.id = i.grant_id
  LEFT JOIN revoked_family f ON f.family_id = i.family_id
  LEFT JOIN revoked_token t ON t.token_hash = i.token_hash
  LEFT JOIN restores r ON true
  ORDER BY i.ord`;

interface RecorderOptions {
  /** How far the clocks of this process and of the database may differ. */
  readonly clockToleranceMs: number;
  readonly guard: Pick<RestoreGuard, 'witness' | 'verified'>;
}

/**
 * The hot path of every data request, on statements prepared once for each connection. Each method is one statement and so
 * one transaction: what `insert` wrote is committed when it answers, and `judge` sees whatever committed before it began.
 */
export function createPgAccessRecords(
  pool: pg.Pool,
  { clockToleranceMs, guard }: RecorderOptions,
): AccessRecordStore {
  return translatingErrors({
    async findRefs(grantIds) {
      const { rows } = await pool.query<[string, string]>({
        name: 'find-refs',
        text: FIND_REFS,
        values: [grantIds],
        rowMode: 'array',
      });
      return new Map(rows.map(([grantId, userRef]) => [grantId, parseUuid(userRef)]));
    },
    async insert(batch) {
      const { rows } = await pool.query<[Date]>({
        name: 'insert-access-records',
        text: INSERT,
        values: [...toInsertValues(batch), clockToleranceMs],
        rowMode: 'array',
      });
      const [differing] = rows;
      if (differing !== undefined) throw new ClocksDiffer(new Date(batch.at), differing[0]);
    },
    judge: (accesses, userRefs) => guard.verified(() => judge(pool, guard, accesses, userRefs)),
  });
}

async function judge(
  pool: pg.Pool,
  { witness }: Pick<RestoreGuard, 'witness'>,
  accesses: readonly Access[],
  userRefs: readonly Uint8Array[],
): Promise<Judgement[]> {
  const { rows } = await pool.query<[Judgement | 'unverified']>({
    name: 'judge',
    text: JUDGE,
    values: [...toJudgeColumns(accesses, userRefs), ...witness],
    rowMode: 'array',
  });
  return rows.map(([judgement]) => {
    if (judgement === 'unverified') throw new Unverified();
    return judgement;
  });
}

function toInsertValues({ accessRecords, ...batch }: AccessRecordBatch): unknown[] {
  return [
    batch.writer,
    batch.seq,
    new Date(batch.at),
    batch.recordCount,
    batch.digests,
    batch.previousHash,
    batch.hash,
    uuidArray(accessRecords, (accessRecord) => accessRecord.id),
    uuidArray(accessRecords, (accessRecord) => accessRecord.userRef),
    textArray(accessRecords, (accessRecord) => accessRecord.clientId),
    textArray(accessRecords, (accessRecord) => accessRecord.grantId),
    textArray(accessRecords, (accessRecord) => accessRecord.scope),
    textArray(accessRecords, (accessRecord) => accessRecord.endpoint),
    textArray(accessRecords, (accessRecord) => accessRecord.from),
    textArray(accessRecords, (accessRecord) => accessRecord.to),
    int4Array(accessRecords, (accessRecord) => accessRecord.page),
    int4Array(accessRecords, (accessRecord) => accessRecord.recordCount),
    textArray(accessRecords, (accessRecord) => accessRecord.requestId),
    uuidArray(accessRecords, (accessRecord) => accessRecord.refersTo),
    textArray(accessRecords, (accessRecord) => accessRecord.verdict || null),
  ];
}

function toJudgeColumns(accesses: readonly Access[], userRefs: readonly Uint8Array[]): Buffer[] {
  return [
    textArray(accesses, (access) => access.clientId),
    textArray(accesses, (access) => access.userId),
    textArray(accesses, (access) => access.grantId),
    textArray(accesses, (access) => access.familyId),
    byteaArray(accesses, (access) => access.tokenHash),
    int8Array(accesses, (access) => access.tokenExpiresAt),
    textArray(accesses, (access) => access.scope),
    textArray(accesses, (access) => access.dataFrom),
    uuidArray(userRefs, (ref) => ref),
  ];
}
