import type pg from 'pg';
import type { AccessRecorder, IdentifiedAccess } from '../app/ports.ts';
import type { Verdict } from '../domain/access.ts';

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

const RECORD = `
  INSERT INTO access_record (id, user_id, client_id, grant_id, scope, endpoint, window_from, window_to, page,
    record_count, request_id)
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
    $9::int[], $10::int[], $11::text[])`;

// Exported for the test of its plan. The first cause that applies is told. Any cause but the last three hides that there ever was a consent.
export const JUDGE = `
  SELECT CASE
    WHEN to_timestamp(i.token_expires_at) <= statement_timestamp() THEN 'token_expired'
    WHEN a.status IS DISTINCT FROM 'active' THEN 'app_not_alive'
    WHEN f.family_id IS NOT NULL THEN 'family_revoked'
    WHEN t.token_hash IS NOT NULL THEN 'token_revoked'
    WHEN g.id IS NULL OR g.revoked_at IS NOT NULL OR g.user_id <> i.user_id OR g.client_id <> i.client_id
      OR g.app_epoch <> a.epoch THEN 'grant_revoked'
    WHEN g.expires_at <= statement_timestamp() THEN 'grant_expired'
    WHEN i.scope <> ALL (g.scopes) THEN 'scope_withdrawn'
    WHEN coalesce(to_char(g.data_from, 'YYYY-MM-DD'), '') <> i.data_from THEN 'window_changed'
    ELSE 'released' END
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::text[], $8::text[])
    WITH ORDINALITY AS i(client_id, user_id, grant_id, family_id, token_hash, token_expires_at, scope, data_from, ord)
  LEFT JOIN app a ON a.client_id = i.client_id
  LEFT JOIN consent_grant g ON g.id = i.grant_id
  LEFT JOIN revoked_family f ON f.family_id = i.family_id
  LEFT JOIN revoked_token t ON t.token_hash = i.token_hash
  ORDER BY i.ord`;

const REFUSE = `
  INSERT INTO access_refusal (record_id, verdict) SELECT * FROM unnest($1::uuid[], $2::text[])`;

/**
 * The hot path of every data request, on statements prepared once for each connection. Each method is one statement and so
 * one transaction: what `record` wrote is committed when it answers, and `judge` sees whatever committed before it began.
 */
export function createPgAccessRecorder(pool: pg.Pool): AccessRecorder {
  return {
    async record(accesses) {
      await pool.query({ name: 'record', text: RECORD, values: toRecordColumns(accesses) });
    },
    async judge(accesses) {
      const { rows } = await pool.query<[Verdict]>({
        name: 'judge',
        text: JUDGE,
        values: toJudgeColumns(accesses),
        rowMode: 'array',
      });
      if (rows.length !== accesses.length) throw new Error('a verdict for each access');
      return rows.map(([verdict]) => verdict);
    },
    async refuse(refusals) {
      const ids = refusals.map((refusal) => refusal.recordId);
      const verdicts = refusals.map((refusal) => refusal.verdict);
      await pool.query({ name: 'refuse', text: REFUSE, values: [ids, verdicts] });
    },
  };
}

function toRecordColumns(accesses: readonly IdentifiedAccess[]): unknown[] {
  return [
    accesses.map((access) => access.recordId),
    accesses.map((access) => access.userId),
    accesses.map((access) => access.clientId),
    accesses.map((access) => access.grantId),
    accesses.map((access) => access.scope),
    accesses.map((access) => access.endpoint),
    accesses.map((access) => access.from),
    accesses.map((access) => access.to),
    accesses.map((access) => access.page),
    accesses.map((access) => access.recordCount),
    accesses.map((access) => access.requestId),
  ];
}

function toJudgeColumns(accesses: readonly IdentifiedAccess[]): unknown[] {
  return [
    accesses.map((access) => access.clientId),
    accesses.map((access) => access.userId),
    accesses.map((access) => access.grantId),
    accesses.map((access) => access.familyId),
    accesses.map(({ tokenHash: hash }) => Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength)),
    accesses.map((access) => access.tokenExpiresAt),
    accesses.map((access) => access.scope),
    accesses.map((access) => access.dataFrom),
  ];
}
