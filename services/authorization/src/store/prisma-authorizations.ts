import { isScope } from '@phds/catalog/scopes';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type { AuthorizationStore } from '../app/ports.ts';
import type { AuthorizationCode } from '../domain/code.ts';
import { type Database, toBytes } from './database.ts';
import type { AuthorizationCode as CodeRow, PrismaClient } from './generated/client.ts';
import { inVerified, isSuspended } from './restore-guard.ts';

/** Authorization requests and codes in Postgres, except the hot look-up of a code. */
export function createPrismaAuthorizations(
  prisma: PrismaClient,
  guard: RestoreGuard,
): Omit<AuthorizationStore, 'findCode'> {
  return translatingErrors({
    async insertRequest(request) {
      await prisma.authorizationRequest.create({ data: { ...request, scopes: [...request.scopes] } });
    },

    async deleteRequests(pendingIds) {
      await prisma.authorizationRequest.deleteMany({ where: { pendingId: { in: [...pendingIds] } } });
    },

    async findRequest(pendingId) {
      const row = await prisma.authorizationRequest.findUnique({ where: { pendingId } });
      return row === null ? null : { ...row, scopes: row.scopes.filter(isScope) };
    },

    async extendRequest(pendingId, expiresAt) {
      await prisma.$executeRaw`
        UPDATE authorization_request SET expires_at = greatest(expires_at, ${expiresAt}) WHERE pending_id = ${pendingId}`;
    },

    putCode: (code) =>
      inVerified(prisma, guard, async (tx) => {
        const hash = toBytes(code.hash);
        const { suspended: _suspended, ...columns } = code;
        const data = { ...columns, hash, scopes: [...code.scopes] };
        // ON CONFLICT DO NOTHING: a repeated decision finds the first one's code.
        await tx.authorizationCode.createMany({ data: [data], skipDuplicates: true });
        return fromRow(tx, await tx.authorizationCode.findUniqueOrThrow({ where: { hash } }));
      }),

    async countFailedAttempt(hash) {
      await prisma.$executeRaw`
        UPDATE authorization_code SET failed_attempts = failed_attempts + 1
        WHERE hash = ${toBytes(hash)} AND consumed_at IS NULL`;
    },
  });
}

async function fromRow(database: Database, row: CodeRow): Promise<AuthorizationCode> {
  const { restoreNumber, ...code } = row;
  const suspended = await isSuspended(database, restoreNumber);
  return { ...code, scopes: row.scopes.filter(isScope), suspended };
}
