import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { PrismaClient } from './generated/client.ts';

/** Counts the active apps whose secret is suspended by an unconfirmed restore. */
export function createPrismaSuspensions(prisma: PrismaClient) {
  return translatingErrors({
    async count() {
      const [row] = await prisma.$queryRaw<{ count: number }[]>`
        SELECT count(*)::int AS count FROM app JOIN suspension s ON app.secret_restore_number < s.below
        WHERE app.status = 'active' AND app.secret_hash IS NOT NULL`;
      return row?.count ?? 0;
    },
  });
}
