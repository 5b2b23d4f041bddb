import type { PrunedTables } from '@phds/service-kit/background';
import type { Clock } from '@phds/service-kit/clock';
import { Prisma, type PrismaClient } from './store/generated/client.ts';

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

/**
 * Deletes rows. Locked rows are skipped, so that pruning never waits for an erasure. The keys are an array, so that Postgres evaluates the
 * subquery once; otherwise it could run it again and lock other rows.
 */
export function createPruning(prisma: PrismaClient, clock: Clock) {
  const { sql } = Prisma;
  const deleting =
    (table: Prisma.Sql, key: Prisma.Sql, time: Prisma.Sql, days: number) => (limit: number) => {
      const before = new Date(clock.now().getTime() - days * DAY_MS).toISOString();
      return prisma.$executeRaw`
      DELETE FROM ${table} WHERE ${key} = ANY(ARRAY(
        SELECT ${key} FROM ${table} WHERE ${time} < ${before}::timestamptz
        ORDER BY ${time} LIMIT ${limit}::int FOR UPDATE SKIP LOCKED))`;
    };
  const [hash, pendingId, id] = [sql`hash`, sql`pending_id`, sql`id`];
  const [createdAt, expiresAt] = [sql`created_at`, sql`expires_at`];
  return {
    access_token: deleting(sql`access_token`, hash, expiresAt, KEPT_DAYS.accessTokens),
    authorization_request: deleting(sql`authorization_request`, pendingId, createdAt, KEPT_DAYS.requests),
    authorization_code: deleting(sql`authorization_code`, hash, expiresAt, KEPT_DAYS.codes),
    used_jwt: deleting(sql`used_jwt`, hash, expiresAt, KEPT_DAYS.usedJwts),
    // Their access tokens went five days before.
    token_family: deleting(sql`token_family`, id, expiresAt, KEPT_DAYS.families),
  } satisfies PrunedTables;
}
