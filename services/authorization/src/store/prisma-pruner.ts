import type { Pruner } from '../app/ports.ts';
import { translated } from './database.ts';
import type { PrismaClient } from './generated/client.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long rows stay after their end, in days: longer than anybody can still learn something from them. */
const KEPT_DAYS = {
  /** An expired access token is told apart from an unknown one for 24 hours. */
  accessTokens: 2,
  /** After that long a decided or expired approval reads as not found. */
  requests: 7,
  /** A replay of its code can end a family for as long as the family can live without having been refreshed. */
  codes: 31,
  families: 7,
} as const;

/** Deletes in Postgres. Safe to run in several processes at once. */
export function createPrismaPruner(prisma: PrismaClient): Pruner {
  return {
    prune: (now) =>
      translated(async () => {
        const before = (days: number) => ({ lt: new Date(now.getTime() - days * DAY_MS) });
        const gone = [
          await prisma.accessToken.deleteMany({ where: { expiresAt: before(KEPT_DAYS.accessTokens) } }),
          await prisma.authorizationRequest.deleteMany({ where: { createdAt: before(KEPT_DAYS.requests) } }),
          await prisma.authorizationCode.deleteMany({ where: { expiresAt: before(KEPT_DAYS.codes) } }),
          // Takes its refresh tokens along.
          await prisma.tokenFamily.deleteMany({ where: { expiresAt: before(KEPT_DAYS.families) } }),
        ];
        return gone.reduce((sum, { count }) => sum + count, 0);
      }),
  };
}
