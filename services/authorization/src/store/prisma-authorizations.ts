import { isScope } from '@phds/catalog/scopes';
import type { AuthorizationStore } from '../app/ports.ts';
import type { AuthorizationCode } from '../domain/code.ts';
import { toBytes, translated } from './database.ts';
import type { AuthorizationCode as CodeRow, PrismaClient } from './generated/client.ts';

/** Authorization requests and codes in Postgres. */
export function createPrismaAuthorizations(prisma: PrismaClient): AuthorizationStore {
  return {
    insertRequest: (request) =>
      translated(async () => {
        await prisma.authorizationRequest.create({ data: { ...request, scopes: [...request.scopes] } });
      }),

    deleteRequests: (pendingIds) =>
      translated(async () => {
        await prisma.authorizationRequest.deleteMany({ where: { pendingId: { in: [...pendingIds] } } });
      }),

    findRequest: (pendingId) =>
      translated(async () => {
        const row = await prisma.authorizationRequest.findUnique({ where: { pendingId } });
        return row === null ? null : { ...row, scopes: row.scopes.filter(isScope) };
      }),

    putCode: (code) =>
      translated(async () => {
        const hash = toBytes(code.hash);
        const data = { ...code, hash, scopes: [...code.scopes] };
        // ON CONFLICT DO NOTHING: a repeated decision finds the code of the first one.
        await prisma.authorizationCode.createMany({ data: [data], skipDuplicates: true });
        return fromRow(await prisma.authorizationCode.findUniqueOrThrow({ where: { hash } }));
      }),

    findCode: (hash) =>
      translated(async () => {
        const row = await prisma.authorizationCode.findUnique({ where: { hash: toBytes(hash) } });
        return row === null ? null : fromRow(row);
      }),

    countFailedAttempt: (hash) =>
      translated(async () => {
        await prisma.$executeRaw`
          UPDATE authorization_code SET failed_attempts = failed_attempts + 1
          WHERE hash = ${toBytes(hash)} AND consumed_at IS NULL`;
      }),
  };
}

function fromRow(row: CodeRow): AuthorizationCode {
  return { ...row, scopes: row.scopes.filter(isScope) };
}
