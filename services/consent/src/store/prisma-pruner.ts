import type { PrunedTables } from '@phds/service-kit/pruning';
import type { PrismaClient } from './generated/client.ts';

/** How long rows stay, in days: of a revocation beyond the end of what it ended, of a pending approval from its beginning. */
export interface KeptDays {
  readonly revocationDays: number;
  readonly pendingDays: number;
}

/**
 * Deletes by the database's clock. Grants, events and records are history and stay. The keys are an array: Postgres collects them
 * once, where it may run a subquery again and lock other rows.
 */
export function createPrismaPruner(prisma: PrismaClient, { revocationDays, pendingDays }: KeptDays) {
  return {
    revoked_family: (limit) => prisma.$executeRaw`
      DELETE FROM revoked_family WHERE family_id = ANY(ARRAY(
        SELECT family_id FROM revoked_family
        WHERE expires_at < statement_timestamp() - make_interval(days => ${revocationDays}::int)
        ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    revoked_token: (limit) => prisma.$executeRaw`
      DELETE FROM revoked_token WHERE token_hash = ANY(ARRAY(
        SELECT token_hash FROM revoked_token
        WHERE expires_at < statement_timestamp() - make_interval(days => ${revocationDays}::int)
        ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
    pending_approval: (limit) => prisma.$executeRaw`
      DELETE FROM pending_approval WHERE id = ANY(ARRAY(
        SELECT id FROM pending_approval
        WHERE created_at < statement_timestamp() - make_interval(days => ${pendingDays}::int)
        ORDER BY created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))`,
  } satisfies PrunedTables;
}
