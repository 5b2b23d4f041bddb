import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import { parseUserId } from '@phds/service-kit/ids';
import type { Developer, PrismaClient } from './store/generated/client.ts';

export type Developers = ReturnType<typeof createDevelopers>;

interface Session {
  readonly userId: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Who may register apps: `anyone`, those who are `listed`, or sessions with a claim `name=value`. */
export function createDevelopers(prisma: PrismaClient, admitted: string) {
  const [name = '', ...rest] = admitted.split('=');
  const value = rest.join('=');
  return {
    async mayRegister({ userId, claims }: Session): Promise<boolean> {
      if (admitted === 'listed') return (await prisma.developer.findFirst({ where: { userId } })) !== null;
      return admitted === 'anyone' || [claims[name]].flat().includes(value);
    },
    /** The people whom operators let register apps, by user id. */
    async list(page: Page): Promise<Listed<Developer>> {
      const [items, total] = await Promise.all([
        prisma.developer.findMany({ orderBy: { userId: 'asc' }, skip: offsetOf(page), take: page.pageSize }),
        prisma.developer.count(),
      ]);
      return { items, total };
    },
    /** Idempotent, like `remove`. */
    async add(text: string): Promise<void> {
      const userId = parseUserId(text);
      await prisma.developer.upsert({ where: { userId }, create: { userId }, update: {} });
    },
    async remove(text: string): Promise<void> {
      await prisma.developer.deleteMany({ where: { userId: parseUserId(text) } });
    },
  };
}
