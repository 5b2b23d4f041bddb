import type { AccessFilter, AccessHistory } from '../app/ports.ts';
import { type AccessEntry, toAccessId } from '../domain/access.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';

const ENTRY_FROM = Prisma.sql`access_record r LEFT JOIN access_refusal f ON f.record_id = r.id`;

/** The history of accesses, read from the records themselves. */
export function createPrismaAccessHistory(prisma: PrismaClient): AccessHistory {
  return {
    async list(userId, filter, page) {
      if (filter.grantId !== null && !(await isGrantOf(prisma, filter.grantId, userId))) return null;
      const where = Prisma.join([Prisma.sql`r.user_id = ${userId}`, ...toConditions(filter)], ' AND ');
      const [items, counted] = await Promise.all([
        prisma.$queryRaw<AccessEntry[]>`
          SELECT r.id::text AS id, r.at, r.client_id AS "clientId", coalesce(a.name, '') AS "appName",
            r.grant_id AS "grantId", r.scope, r.endpoint, r.window_from AS "from", r.window_to AS "to",
            r.record_count AS "recordCount", coalesce(f.verdict, 'released') AS verdict
          FROM ${ENTRY_FROM} LEFT JOIN app a ON a.client_id = r.client_id
          WHERE ${where} ORDER BY r.id DESC LIMIT ${page.limit} OFFSET ${page.offset}`,
        prisma.$queryRaw<{ total: number }[]>`
          SELECT count(*)::int AS total FROM access_record r WHERE ${where}`,
      ]);
      return {
        items: items.map((entry) => ({ ...entry, id: toAccessId(entry.id) })),
        total: counted[0]?.total ?? 0,
      };
    },
    async usage(clientId, ownerId, range) {
      const owned = await prisma.app.findFirst({ where: { clientId, ownerId }, select: { clientId: true } });
      if (owned === null) return null;
      const today = Prisma.sql`(statement_timestamp() AT TIME ZONE 'UTC')::date`;
      const from = range === null ? Prisma.sql`${today} - 29` : Prisma.sql`${range.from}::date`;
      const to = range === null ? today : Prisma.sql`${range.to}::date`;
      return prisma.$queryRaw`
        SELECT to_char(r.at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS date, r.endpoint,
          count(*) FILTER (WHERE f.record_id IS NULL)::int AS released, count(f.record_id)::int AS refused
        FROM ${ENTRY_FROM}
        WHERE r.client_id = ${clientId} AND r.at >= (${from})::timestamp AT TIME ZONE 'UTC'
          AND r.at < (${to} + 1)::timestamp AT TIME ZONE 'UTC'
        GROUP BY 1, 2 ORDER BY 1 DESC, 2`;
    },
  };
}

async function isGrantOf(prisma: PrismaClient, id: string, userId: string): Promise<boolean> {
  return (await prisma.consentGrant.findFirst({ where: { id, userId }, select: { id: true } })) !== null;
}

function toConditions(filter: AccessFilter): Prisma.Sql[] {
  const conditions: Prisma.Sql[] = [];
  if (filter.grantId !== null) conditions.push(Prisma.sql`r.grant_id = ${filter.grantId}`);
  if (filter.clientId !== null) conditions.push(Prisma.sql`r.client_id = ${filter.clientId}`);
  if (filter.scope !== null) conditions.push(Prisma.sql`r.scope = ${filter.scope}`);
  if (filter.from !== null) conditions.push(Prisma.sql`r.at >= ${filter.from}`);
  if (filter.to !== null) conditions.push(Prisma.sql`r.at < ${filter.to}`);
  return conditions;
}
