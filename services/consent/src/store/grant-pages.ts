import { LONGEST_LIST, offsetOf, type Page } from '@phds/catalog/pagination';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_FROM } from './grant-rows.ts';

/** Order and limits of a page of grants `g`, none of which is further from the newest than LONGEST_LIST. */
export function newestFirst(page: Page): Prisma.Sql {
  const offset = Math.min(offsetOf(page), LONGEST_LIST);
  const limit = Math.min(page.pageSize, LONGEST_LIST - offset);
  return Prisma.sql`ORDER BY g.granted_at DESC, g.id DESC LIMIT ${limit} OFFSET ${offset}`;
}

/** Counts up to LONGEST_LIST. */
export async function countGrants(prisma: PrismaClient, where: Prisma.Sql): Promise<number> {
  const [counted] = await prisma.$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM (
      SELECT FROM ${Prisma.raw(GRANT_FROM)} WHERE ${where} LIMIT ${LONGEST_LIST}) counted`;
  return counted?.total ?? 0;
}
