import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { PrismaClient } from './generated/client.ts';

export interface Developer {
  readonly userId: string;
  readonly addedAt: Date;
}

export type DeveloperStore = ReturnType<typeof createPrismaDevelopers>;

/** The people whom operators let register apps, in Postgres. */
export function createPrismaDevelopers(prisma: PrismaClient) {
  return {
    has: async (userId: string) => (await prisma.developer.findUnique({ where: { userId } })) !== null,
    /** By user id. */
    async list(page: Page): Promise<Listed<Developer>> {
      const [items, total] = await Promise.all([
        prisma.developer.findMany({ orderBy: { userId: 'asc' }, skip: offsetOf(page), take: page.pageSize }),
        prisma.developer.count(),
      ]);
      return { items, total };
    },
    /** Idempotent, like `remove`. */
    async add(userId: string): Promise<void> {
      await prisma.developer.upsert({ where: { userId }, create: { userId }, update: {} });
    },
    async remove(userId: string): Promise<void> {
      await prisma.developer.deleteMany({ where: { userId } });
    },
  };
}
