import type { Pruner } from '../app/ports.ts';
import type { PrismaClient } from './generated/client.ts';

/** Deletes by the database's clock. Grants, events and records are history and stay. */
export function createPrismaPruner(prisma: PrismaClient): Pruner {
  return {
    async prune({ revocationDays, pendingDays }) {
      const families = await prisma.$executeRaw`
        DELETE FROM revoked_family WHERE expires_at < statement_timestamp() - make_interval(days => ${revocationDays}::int)`;
      const tokens = await prisma.$executeRaw`
        DELETE FROM revoked_token WHERE expires_at < statement_timestamp() - make_interval(days => ${revocationDays}::int)`;
      const pending = await prisma.$executeRaw`
        DELETE FROM pending_approval WHERE created_at < statement_timestamp() - make_interval(days => ${pendingDays}::int)`;
      return families + tokens + pending;
    },
  };
}
