import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { PersonStore } from '../app/erasure-ports.ts';
import type { PrismaClient } from './generated/client.ts';

/** Rows of one step, far from what a statement has time for. */
const STEP_ROWS = 1_000;

/** People in the tables with user ids. */
export function createPrismaPeople(prisma: PrismaClient): PersonStore {
  return translatingErrors({
    async findOpenApps(userId) {
      const rows = await prisma.app.findMany({
        where: { ownerId: userId, status: { not: 'revoked' } },
        select: { clientId: true },
      });
      return rows.map(({ clientId }) => clientId);
    },

    async erase(userId) {
      // Codes and refresh tokens first: afterwards nothing new can be issued.
      const codes = await inSteps(
        () => prisma.$executeRaw`
          DELETE FROM authorization_code WHERE hash = ANY(ARRAY(
            SELECT hash FROM authorization_code WHERE user_id = ${userId} LIMIT ${STEP_ROWS}))`,
      );
      await inSteps(
        () => prisma.$executeRaw`
          DELETE FROM refresh_token WHERE hash = ANY(ARRAY(
            SELECT token.hash FROM token_family AS family JOIN refresh_token AS token ON token.family_id = family.id
            WHERE family.user_id = ${userId} LIMIT ${STEP_ROWS}))`,
      );
      await inSteps(
        () => prisma.$executeRaw`
          DELETE FROM access_token WHERE hash = ANY(ARRAY(
            SELECT token.hash FROM token_family AS family JOIN access_token AS token ON token.family_id = family.id
            WHERE family.user_id = ${userId} LIMIT ${STEP_ROWS}))`,
      );
      const families = await inSteps(
        () => prisma.$executeRaw`
          DELETE FROM token_family WHERE id = ANY(ARRAY(
            SELECT id FROM token_family WHERE user_id = ${userId} LIMIT ${STEP_ROWS}))`,
      );
      await prisma.developer.deleteMany({ where: { userId } });
      // An app registered in the meantime is not revoked; it keeps its owner until the repeat.
      const apps = await prisma.app.updateMany({
        where: { ownerId: userId, status: 'revoked' },
        data: { ownerId: '' },
      });
      return { codes, families, apps: apps.count };
    },
  });
}

/** Repeats a step until it finds no more rows, and returns how many it removed. */
async function inSteps(removeRows: () => Promise<number>): Promise<number> {
  let total = 0;
  for (;;) {
    const removed = await removeRows();
    total += removed;
    if (removed === 0) return total;
  }
}
