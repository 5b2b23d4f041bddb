import type { RestoreLog } from '../app/restores.ts';
import type { Restore } from '../domain/restore.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_FROM, GRANT_STATUS, SUSPENDED } from './grant-rows.ts';

type Transaction = Prisma.TransactionClient;

const COLUMNS = Prisma.sql`r.number, r.at, r.kind,
  (SELECT min(c.at) FROM consent_audit.restore_confirmation c WHERE c.number >= r.number) AS "confirmedAt"`;

/** Restores in the schema that the service may only add to. Its first start is an entry as well, which suspends nothing. */
export function createPrismaRestores(prisma: PrismaClient): RestoreLog {
  return {
    notice: () => prisma.$transaction(noticeRestore),
    findLatest: () => findRestore(prisma, Prisma.sql`true`),
    async countSuspended() {
      const [row] = await prisma.$queryRaw<{ count: number }[]>`
        SELECT count(*)::int AS count FROM ${Prisma.raw(GRANT_FROM)}
        WHERE ${Prisma.raw(SUSPENDED)} AND ${Prisma.raw(GRANT_STATUS)} = 'active'`;
      return row?.count ?? 0;
    },
    declare: () => prisma.$transaction(declare),
    async confirm(number) {
      await prisma.$executeRaw`
        INSERT INTO consent_audit.restore_confirmation (number)
        SELECT number FROM consent_audit.restore WHERE number = ${number} AND kind <> 'first' ON CONFLICT DO NOTHING`;
      return findRestore(prisma, Prisma.sql`r.number = ${number}`);
    },
  };
}

async function findRestore(tx: Transaction, where: Prisma.Sql): Promise<Restore | null> {
  const [restore] = await tx.$queryRaw<Restore[]>`
    SELECT ${COLUMNS} FROM consent_audit.restore r
    WHERE r.kind <> 'first' AND ${where} ORDER BY r.number DESC LIMIT 1`;
  return restore ?? null;
}

/** Numbers are given out one after the other. */
async function lockNumbers(tx: Transaction): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('consent restores', 0))`;
}

/** Writes down a database that is not the one of the last entry: what is made from then on is newer than the restore. */
export async function noticeRestore(tx: Transaction): Promise<void> {
  if (await isKnown(tx)) return;
  await lockNumbers(tx);
  // Another instance may have been faster.
  if (await isKnown(tx)) return;
  await tx.$executeRaw`
    INSERT INTO consent_audit.restore (number, kind, identity)
    SELECT coalesce(max(number), 0) + 1, CASE WHEN max(number) IS NULL THEN 'first' ELSE 'detected' END,
      (SELECT identity FROM consent_audit.present_database)
    FROM consent_audit.restore`;
}

async function isKnown(tx: Transaction): Promise<boolean> {
  const rows = await tx.$queryRaw<object[]>`
    SELECT 1 AS known FROM (SELECT identity FROM consent_audit.restore ORDER BY number DESC LIMIT 1) last
    WHERE last.identity = (SELECT identity FROM consent_audit.present_database)`;
  return rows.length > 0;
}

async function declare(tx: Transaction): Promise<Restore> {
  await lockNumbers(tx);
  const [entry] = await tx.$queryRaw<{ number: number }[]>`
    INSERT INTO consent_audit.restore (number, kind, identity)
    SELECT coalesce(max(number), 0) + 1, 'declared', (SELECT identity FROM consent_audit.present_database) FROM consent_audit.restore
    RETURNING number`;
  const restore = await findRestore(tx, Prisma.sql`r.number = ${entry?.number}`);
  if (restore === null) throw new Error('a restore that was declared is there');
  return restore;
}
