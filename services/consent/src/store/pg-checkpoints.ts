import { type ChainHead, readCheckpointContent } from '@phds/record-chain/checkpoint';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { CheckpointStore, StoredCheckpoint } from '../app/access-ports.ts';

interface HeadRow {
  readonly writer: string;
  readonly seq: string;
  readonly hash: Uint8Array;
}

/** Number of checkpoints read at once; more than from one base to the next. */
const CHECKPOINTS_A_PAGE = 600;

/** Checkpoints in the schema where the service can only insert. */
export function createPgCheckpoints(pool: pg.Pool): CheckpointStore {
  const readFrom = (number: number) =>
    select<StoredCheckpoint>(pool)`
    SELECT number, jws FROM consent_audit.access_checkpoint WHERE number >= ${number}
    ORDER BY number LIMIT ${CHECKPOINTS_A_PAGE}::int`;
  /** The checkpoints from the last one's base up to it. */
  async function readFromBase({ number, jws }: StoredCheckpoint): Promise<StoredCheckpoint[]> {
    const base = readCheckpointContent(jws).base ?? number;
    const known = base < number ? await readFrom(base) : [];
    return known.filter((checkpoint) => checkpoint.number < number);
  }
  return translatingErrors({
    readFrom,
    async read(intervalMs) {
      const last = await selectLast(pool, intervalMs);
      if (last?.isTaken === true) return null;
      const [dropped] = await select<{ keptFrom: Date | null }>(pool)`
        SELECT max(kept_from) AS "keptFrom" FROM consent_audit.access_dropped`;
      const heads = await selectHeads(pool, last?.at ?? null);
      const recent = last === null ? [] : [...(await readFromBase(last)), last];
      return { recent, heads, keptFrom: dropped?.keptFrom ?? null };
    },
    async add(number, jws) {
      const added = await execute(pool)`
        INSERT INTO consent_audit.access_checkpoint (number, jws) VALUES (${number}, ${jws}) ON CONFLICT DO NOTHING`;
      return added === 1;
    },
    findLast: () => selectLast(pool, null),
    async findDropped() {
      const rows = await select<{ writer: string; seq: number }>(pool)`
        SELECT writer::text AS writer, max(seq)::float8 AS seq FROM consent_audit.access_dropped GROUP BY writer`;
      return new Map(rows.map(({ writer, seq }) => [writer, seq]));
    },
    async drop(firstKept) {
      const [row] = await select<{ dropped: number }>(pool)`
        SELECT drop_access_checkpoints(${firstKept}::int) AS dropped`;
      return row?.dropped ?? 0;
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
 * The heads of chains with batches since the month before the last checkpoint; older chains are in older checkpoints. Jumps from
 * writer to writer in the index, whatever the number of batches.
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
      SELECT writer, seq, hash FROM access_batch b
      WHERE b.writer = chain.writer AND b.at >= (SELECT at FROM since) ORDER BY b.seq DESC LIMIT 1) head
    ORDER BY head.writer`;
  return rows.map(({ writer, seq, hash }) => ({
    writer,
    seq: Number(seq),
    hash: Buffer.from(hash).toString('base64url'),
  }));
}
