import { inTransaction } from '@phds/service-kit/postgres/postgres';
import { readStatement } from '@phds/service-kit/postgres/sql';
import { queryVerified, type RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { AuthorizationCode, AuthorizationRequest } from '../authorization-request.ts';
import type { PrismaClient } from './generated/client.ts';
import { createLookUp, toInsert, withKnownScopes } from './statements.ts';

const FIND_CODE = readStatement(new URL('sql/find-code.sql', import.meta.url));

export type AuthorizationStore = ReturnType<typeof createPgAuthorizations>;

/** Authorization requests and codes in Postgres. */
export function createPgAuthorizations(pool: pg.Pool, prisma: PrismaClient, guard: RestoreGuard) {
  return {
    async insertRequest({ scopes, ...request }: AuthorizationRequest): Promise<void> {
      await prisma.authorizationRequest.create({ data: { ...request, scopes: [...scopes] } });
    },

    async deleteRequests(pendingIds: readonly string[]): Promise<void> {
      await prisma.authorizationRequest.deleteMany({ where: { pendingId: { in: [...pendingIds] } } });
    },

    async findRequest(pendingId: string): Promise<AuthorizationRequest | null> {
      const row = await prisma.authorizationRequest.findFirst({ where: { pendingId } });
      return row && withKnownScopes(row);
    },

    /** Moves a request's end later; never earlier. */
    async extendRequest(pendingId: string, expiresAt: Date): Promise<void> {
      const where = { pendingId, expiresAt: { lt: expiresAt } };
      await prisma.authorizationRequest.updateMany({ where, data: { expiresAt } });
    },

    /** Stores a code unless its approval already has one. Returns the stored one. */
    putCode: ({ suspended: _suspended, ...code }: AuthorizationCode): Promise<AuthorizationCode> =>
      guard.verified(() =>
        inTransaction(pool, async (client) => {
          const { text, values } = toInsert('authorization_code', code);
          // A repeated decision finds the first one's code.
          await client.query(`${text} ON CONFLICT DO NOTHING`, values);
          const [row] = await queryVerified<AuthorizationCode>(client, guard, FIND_CODE, [[code.hash]]);
          if (row === undefined) throw new Error('the approval has another code');
          return row;
        }),
      ),

    findCode: createLookUp({
      pool,
      guard,
      statement: FIND_CODE,
      keyOf: ({ hash }: AuthorizationCode) => hash,
    }),

    /** Counts a failed attempt on an unused code. */
    async countFailedAttempt(hash: Uint8Array): Promise<void> {
      const text = `
        UPDATE authorization_code SET failed_attempts = failed_attempts + 1 WHERE hash = $1 AND consumed_at IS NULL`;
      await pool.query(text, [hash]);
    },
  };
}
