import type { PrunedTables } from '@phds/service-kit/background';
import type { Clock } from '@phds/service-kit/clock';
import type { PrismaClient } from './store/generated/client.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How many days rows are kept after their end, until they can no longer matter. */
const KEPT_DAYS = {
  /** For 24 hours, an expired access token is distinguished from an unknown one. */
  accessTokens: 2,
  /** After this, a decided or expired approval is reported as not found. */
  requests: 7,
  /** A replay of its code can revoke a family for as long as the family can live without a refresh. */
  codes: 31,
  families: 7,
  /** They are refused by their own time. */
  usedJwts: 0,
} as const;

/** Deletes rows. Of several processes at the same time, one deletes a row; the others find fewer than their limit. */
export function createPruning(prisma: PrismaClient, clock: Clock) {
  const before = (days: number) => ({ lt: new Date(clock.now().getTime() - days * DAY_MS) });
  const expired = (days: number, limit: number) => ({ where: { expiresAt: before(days) }, limit });
  const requests = (limit: number) => ({ where: { createdAt: before(KEPT_DAYS.requests) }, limit });
  const count = async (deleting: Promise<{ readonly count: number }>) => (await deleting).count;
  return {
    access_token: (limit) => count(prisma.accessToken.deleteMany(expired(KEPT_DAYS.accessTokens, limit))),
    authorization_request: (limit) => count(prisma.authorizationRequest.deleteMany(requests(limit))),
    authorization_code: (limit) =>
      count(prisma.authorizationCode.deleteMany(expired(KEPT_DAYS.codes, limit))),
    used_jwt: (limit) => count(prisma.usedJwt.deleteMany(expired(KEPT_DAYS.usedJwts, limit))),
    // Their access tokens went five days before.
    token_family: (limit) => count(prisma.tokenFamily.deleteMany(expired(KEPT_DAYS.families, limit))),
  } satisfies PrunedTables;
}
