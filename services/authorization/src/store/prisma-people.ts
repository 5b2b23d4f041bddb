import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { PersonStore } from '../app/ports.ts';
import { TRANSACTION_LIMITS } from './database.ts';
import type { PrismaClient } from './generated/client.ts';

/** People in the tables with user ids. Deleting a family deletes its tokens. */
export function createPrismaPeople(prisma: PrismaClient): PersonStore {
  return translatingErrors({
    async findOpenApps(userId) {
      const rows = await prisma.app.findMany({
        where: { ownerId: userId, status: { not: 'revoked' } },
        select: { clientId: true },
      });
      return rows.map(({ clientId }) => clientId);
    },

    erase: (userId) =>
      prisma.$transaction(async (tx) => {
        const codes = await tx.authorizationCode.deleteMany({ where: { userId } });
        const families = await tx.tokenFamily.deleteMany({ where: { userId } });
        // An app registered in the meantime is not revoked; it keeps its owner until the repeat.
        const apps = await tx.app.updateMany({
          where: { ownerId: userId, status: 'revoked' },
          data: { ownerId: '' },
        });
        return { codes: codes.count, families: families.count, apps: apps.count };
      }, TRANSACTION_LIMITS),
  });
}
