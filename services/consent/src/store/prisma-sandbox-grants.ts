import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { SandboxGrantStore } from '../app/ports.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { GRANT_COLUMNS, GRANT_FROM, type GrantRow, toGrant } from './grant-rows.ts';

/** Grants of sandbox people in table `consent_grant`. */
export function createPrismaSandboxGrants(prisma: PrismaClient): SandboxGrantStore {
  return translatingErrors({
    async isOwner(ownerId, clientId) {
      return (await prisma.app.count({ where: { ownerId, clientId } })) === 1;
    },
    async find(id, clientId) {
      const [row] = await prisma.$queryRaw<GrantRow[]>`
        SELECT ${Prisma.raw(GRANT_COLUMNS)} FROM ${Prisma.raw(GRANT_FROM)}
        WHERE g.id = ${id} AND g.client_id = ${clientId}`;
      return row === undefined ? null : toGrant(row);
    },
    async expire(id) {
      // No event is added, as none is when the time runs out.
      const ended = await prisma.$executeRaw`
        UPDATE consent_grant SET expires_at = date_trunc('milliseconds', clock_timestamp())
        WHERE id = ${id} AND starts_with(user_id, 'sandbox:') AND closed_at IS NULL AND expires_at > clock_timestamp()`;
      return ended === 1;
    },
  });
}
