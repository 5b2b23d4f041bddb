import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import type { RestoreLog } from '../app/restores.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_FROM, GRANT_STATUS, SUSPENDED } from './grant-rows.ts';

/** Restores as the guard writes them down, and what they suspend. */
export function createPrismaRestores(prisma: PrismaClient, guard: RestoreGuard): RestoreLog {
  return {
    notice: () => guard.settle(),
    findLatest: () => guard.findLatest(),
    async countSuspended() {
      const [row] = await prisma.$queryRaw<{ count: number }[]>`
        SELECT count(*)::int AS count FROM ${Prisma.raw(GRANT_FROM)}
        WHERE ${Prisma.raw(SUSPENDED)} AND ${Prisma.raw(GRANT_STATUS)} = 'active'`;
      return row?.count ?? 0;
    },
    declare: () => guard.declare(),
    confirm: (number) => guard.confirm(number),
  };
}

/** Throws Unverified when the database has not been compared with what was acknowledged. */
export async function requireVerified(
  tx: Prisma.TransactionClient,
  guard: Pick<RestoreGuard, 'requireVerified'>,
): Promise<void> {
  await guard.requireVerified((text, values) => tx.$queryRawUnsafe(text, ...values));
}
