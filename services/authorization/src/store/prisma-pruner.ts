import type { Clock } from '@phds/service-kit/clock';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { PrunedTables } from '@phds/service-kit/pruning';
import type { PrismaClient } from './generated/client.ts';

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
} as const;

/**
 * Deletes rows in Postgres. The keys are an array, so that Postgres evaluates the subquery once; otherwise it could run it again
 * and lock other rows.
 */
export function createPrismaPruner(prisma: PrismaClient, clock: Clock) {
  const before = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
  return translatingErrors({
    access_token: (limit) => prisma.$executeRaw`
      DELETE FROM access_token WHERE hash = ANY(ARRAY(
        SELECT hash FROM access_token WHERE expires_at < ${before(KEPT_DAYS.accessTokens)}
        ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    authorization_request: (limit) => prisma.$executeRaw`
      DELETE FROM authorization_request WHERE pending_id = ANY(ARRAY(
        SELECT pending_id FROM authorization_request WHERE created_at < ${before(KEPT_DAYS.requests)}
        ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    authorization_code: (limit) => prisma.$executeRaw`
      DELETE FROM authorization_code WHERE hash = ANY(ARRAY(
        SELECT hash FROM authorization_code WHERE expires_at < ${before(KEPT_DAYS.codes)}
        ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    token_family: (limit) => deleteFamilies(prisma, before(KEPT_DAYS.families), limit),
  } satisfies PrunedTables);
}

/**
 * Deletes families with their refresh tokens. A family may have half a million tokens, so these are deleted first, in batches, and
 * a family only without tokens, so that nothing is left to the cascade.
 */
async function deleteFamilies(prisma: PrismaClient, expiredBefore: Date, limit: number): Promise<number> {
  const tokens = await prisma.$executeRaw`
    DELETE FROM refresh_token WHERE hash = ANY(ARRAY(
      SELECT token.hash
      FROM (SELECT id FROM token_family WHERE expires_at < ${expiredBefore} ORDER BY expires_at LIMIT ${limit}) AS family
      JOIN refresh_token AS token ON token.family_id = family.id
      LIMIT ${limit} FOR UPDATE OF token SKIP LOCKED))`;
  if (tokens >= limit) return tokens;
  return prisma.$executeRaw`
    DELETE FROM token_family WHERE id = ANY(ARRAY(
      SELECT id FROM token_family AS family
      WHERE expires_at < ${expiredBefore}
        AND NOT EXISTS (SELECT FROM refresh_token WHERE family_id = family.id)
        AND NOT EXISTS (SELECT FROM access_token WHERE family_id = family.id)
      ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`;
}
