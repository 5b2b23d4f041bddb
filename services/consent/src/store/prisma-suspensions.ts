import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_FROM, GRANT_STATUS, SUSPENDED } from './grant-rows.ts';

/** Counts the grants that would be active but are suspended by an unconfirmed restore. */
export function createPrismaSuspensions(prisma: PrismaClient) {
  return translatingErrors({
    async count() {
      const [row] = await prisma.$queryRaw<{ count: number }[]>`
        SELECT count(*)::int AS count FROM ${Prisma.raw(GRANT_FROM)}
        WHERE ${Prisma.raw(SUSPENDED)} AND ${Prisma.raw(GRANT_STATUS)} = 'active'`;
      return row?.count ?? 0;
    },
  });
}
