import { offsetOf } from '@phds/catalog/pagination';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { DeveloperStore } from '../app/developers.ts';
import type { PrismaClient } from './generated/client.ts';

/** The operators' list of developers in Postgres. */
export function createPrismaDevelopers(prisma: PrismaClient): DeveloperStore {
  return translatingErrors({
    has: async (userId) => (await prisma.developer.findUnique({ where: { userId } })) !== null,
    async list(page) {
      const [items, total] = await Promise.all([
        prisma.developer.findMany({ orderBy: { userId: 'asc' }, skip: offsetOf(page), take: page.pageSize }),
        prisma.developer.count(),
      ]);
      return { items, total };
    },
    async add(userId) {
      await prisma.developer.upsert({ where: { userId }, create: { userId }, update: {} });
    },
    async remove(userId) {
      await prisma.developer.deleteMany({ where: { userId } });
    },
  });
}
