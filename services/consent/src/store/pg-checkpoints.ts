import type { ChainHead } from '@phds/record-chain/checkpoint';
import { OPERATORS } from '@phds/record-chain/operator-act';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { CheckpointStore, StoredCheckpoint } from '../app/access-ports.ts';

interface HeadRow {
  readonly writer: string;
  readonly seq: string;
  readonly hash: Uint8Array;
}

/** Checkpoints in the schema where the service can only insert. */
export function createPgCheckpoints(pool: pg.Pool): CheckpointStore {
  return translatingErrors({
    async read(intervalMs) {
      const last = await selectLast(pool, intervalMs);
      if (last?.isTaken === true) return null;
      const [dropped] = await select<{ keptFrom: Date | null }>(pool)`
        SELECT max(kept_from) AS "keptFrom" FROM consent_audit.access_dropped`;
      const heads = await selectHeads(pool, last?.at ?? null);
      return { last, heads, keptFrom: dropped?.keptFrom ?? null };
    },
    async add(number, jws) {
      const added = await execute(pool)`
        INSERT INTO consent_audit.access_checkpoint (number, jws) VALUES (${number}, ${jws}) ON CONFLICT DO NOTHING`;
      return added === 1;
    },
  });
}

interface LastRow extends StoredCheckpoint {
  readonly at: Date;
  /** Whether the current interval of the database's clock has one. */
  readonly isTaken: boolean;
}

async function selectLast(pool: pg.Pool, intervalMs: number | null): Promise<LastRow | null> {
  const [last] = await select<LastRow>(pool)`
    SELECT number, jws, at, coalesce(floor(extract(epoch FROM at) * 1000 / ${intervalMs}::numeric)
      = floor(extract(epoch FROM statement_timestamp()) * 1000 / ${intervalMs}::numeric), false) AS "isTaken"
    FROM consent_audit.access_checkpoint ORDER BY number DESC LIMIT 1`;
  return last ?? null;
}

/**
 * The heads of chains, also the operators', with batches since a day before the last checkpoint (the largest ACCESS_CLOCK_TOLERANCE_MS); others are in older
 * checkpoints. Jumps from writer to writer in the indexes of whole months, whatever the number of batches.
 */
async function selectHeads(pool: pg.Pool, lastAt: Date | null): Promise<ChainHead[]> {
  const rows = await select<HeadRow>(pool)`
    WITH RECURSIVE since AS MATERIALIZED (
      SELECT coalesce(date_trunc('month', ${lastAt}::timestamptz) - interval '1 month', '-infinity') AS at
    ), chain AS (
      (SELECT writer FROM access_batch WHERE at >= (SELECT at FROM since) ORDER BY writer LIMIT 1)
      UNION ALL
      SELECT (SELECT b.writer FROM access_batch b WHERE b.at >= (SELECT at FROM since) AND b.writer > chain.writer
        ORDER BY b.writer LIMIT 1)
      FROM chain WHERE chain.writer IS NOT NULL
    )
    SELECT head.writer::text AS writer, head.seq, head.hash
    FROM chain CROSS JOIN LATERAL (
      SELECT writer, seq, at, hash FROM access_batch b
      WHERE b.writer = chain.writer AND b.at >= (SELECT at FROM since) ORDER BY b.seq DESC LIMIT 1) head
    WHERE head.at >= coalesce(${lastAt}::timestamptz - interval '1 day', '-infinity')
    UNION ALL
    SELECT ${OPERATORS}, act.number - 1, act.hash
    FROM (SELECT number, at, hash FROM consent_audit.operator_act ORDER BY number DESC LIMIT 1) act
    WHERE act.at >= coalesce(${lastAt}::timestamptz - interval '1 day', '-infinity')
    ORDER BY writer`;
  return rows.map(({ writer, seq, hash }) => ({
    writer,
    seq: Number(seq),
    hash: Buffer.from(hash).toString('base64url'),
  }));
}
