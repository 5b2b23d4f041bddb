import { offsetOf, type Page } from '@phds/catalog/pagination';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_FROM } from './grant-rows.ts';

/** Order and limits of a page of grants `g`. */
export function newestFirst(page: Page): Prisma.Sql {
  return Prisma.sql`ORDER BY g.granted_at DESC, g.id DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`;
}

export async function countGrants(prisma: PrismaClient, where: Prisma.Sql): Promise<number> {
  const [counted] = await prisma.$queryRaw<{ total: number }[]>`
    SELECT count(*)::int AS total FROM ${Prisma.raw(GRANT_FROM)} WHERE ${where}`;
  return counted?.total ?? 0;
}
