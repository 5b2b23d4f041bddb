import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import type { RestoreLog } from '../app/restores.ts';
import { translated } from './database.ts';
import type { PrismaClient } from './generated/client.ts';

/** Restores as the guard writes them down, and what they suspend. */
export function createPrismaRestores(prisma: PrismaClient, guard: RestoreGuard): RestoreLog {
  return {
    notice: () => translated(() => guard.settle()),
    findLatest: () => translated(() => guard.findLatest()),
    countSuspended: () =>
      translated(async () => {
        const [row] = await prisma.$queryRaw<{ count: number }[]>`
          SELECT count(*)::int AS count FROM app JOIN suspension s ON app.secret_restore_number < s.below
          WHERE app.status = 'active' AND app.secret_hash IS NOT NULL`;
        return row?.count ?? 0;
      }),
    declare: () => translated(() => guard.declare()),
    confirm: (number) => translated(() => guard.confirm(number)),
  };
}
