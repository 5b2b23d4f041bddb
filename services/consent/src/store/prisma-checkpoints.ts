import type { ChainHead } from '@phds/record-chain/checkpoint';
import type { CheckpointStore } from '../app/record-ports.ts';
import type { PrismaClient } from './generated/client.ts';

interface HeadRow {
  readonly writer: string;
  readonly seq: bigint;
  readonly hash: Uint8Array;
}

/** Checkpoints in the schema that the service may only add to. */
export function createPrismaCheckpoints(prisma: PrismaClient): CheckpointStore {
  return {
    async read() {
      const [last] = await prisma.$queryRaw<{ number: number; jws: string; at: Date }[]>`
        SELECT number, jws, at FROM consent_audit.access_checkpoint ORDER BY number DESC LIMIT 1`;
      const [dropped] = await prisma.$queryRaw<{ keptFrom: Date | null }[]>`
        SELECT max(kept_from) AS "keptFrom" FROM consent_audit.access_dropped`;
      const heads = await selectHeads(prisma, last?.at ?? null);
      return { last: last ?? null, heads, keptFrom: dropped?.keptFrom ?? null };
    },
    async add(number, jws) {
      const added = await prisma.$executeRaw`
        INSERT INTO consent_audit.access_checkpoint (number, jws) VALUES (${number}, ${jws}) ON CONFLICT DO NOTHING`;
      return added === 1;
    },
  };
}

/**
 * The heads of chains that go on in the month of the last checkpoint, the one before, or later: those of older chains stand in
 * older checkpoints. Leaps from writer to writer in the index, whatever the number of batches.
 */
async function selectHeads(prisma: PrismaClient, lastAt: Date | null): Promise<ChainHead[]> {
  const rows = await prisma.$queryRaw<HeadRow[]>`
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
