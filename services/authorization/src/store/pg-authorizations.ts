import { isScope } from '@phds/catalog/scopes';
import { inTransaction } from '@phds/service-kit/postgres/postgres';
import { readStatement } from '@phds/service-kit/postgres/sql';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { AuthorizationCode, AuthorizationRequest } from '../domain/authorization-request.ts';
import { createLookUp, toInsert } from './statements.ts';

const FIND_CODE = readStatement(new URL('sql/find-code.sql', import.meta.url));

const FIND_REQUEST = `
  SELECT pending_id AS "pendingId", client_id AS "clientId", app_epoch AS "appEpoch", redirect_uri AS "redirectUri", state,
    code_challenge AS "codeChallenge", dpop_jkt AS "dpopJkt", scopes,
    include_granted_scopes AS "includeGrantedScopes", asked_words AS "askedWords", created_at AS "createdAt", expires_at AS "expiresAt"
  FROM authorization_request WHERE pending_id = $1`;

type CodeRow = AuthorizationCode & { readonly unverified: boolean };

export type AuthorizationStore = ReturnType<typeof createPgAuthorizations>;

/** Authorization requests and codes in Postgres. */
export function createPgAuthorizations(pool: pg.Pool, guard: RestoreGuard) {
  return {
    async insertRequest(request: AuthorizationRequest): Promise<void> {
      await pool.query(toInsert('authorization_request', request));
    },

    async deleteRequests(pendingIds: readonly string[]): Promise<void> {
      await pool.query('DELETE FROM authorization_request WHERE pending_id = ANY($1)', [pendingIds]);
    },

    async findRequest(pendingId: string): Promise<AuthorizationRequest | null> {
      const { rows } = await pool.query<AuthorizationRequest>(FIND_REQUEST, [pendingId]);
      const [request] = rows;
      return request === undefined ? null : { ...request, scopes: request.scopes.filter(isScope) };
    },

    /** Moves a request's end later; never earlier. */
    async extendRequest(pendingId: string, expiresAt: Date): Promise<void> {
      const text =
        'UPDATE authorization_request SET expires_at = greatest(expires_at, $2) WHERE pending_id = $1';
      await pool.query(text, [pendingId, expiresAt]);
    },

    /** Stores a code unless its approval already has one. Returns the stored one. */
    putCode: ({ suspended: _suspended, ...code }: AuthorizationCode): Promise<AuthorizationCode> =>
      guard.verified(() =>
        inTransaction(pool, async (client) => {
          const { text, values } = toInsert('authorization_code', code);
          // A repeated decision finds the first one's code.
          await client.query(`${text} ON CONFLICT DO NOTHING`, values);
          const [row] = await queryVerified<CodeRow>(client, guard, FIND_CODE, [[code.hash]]);
          if (row === undefined) throw new Error('the approval has another code');
          return fromCodeRow(row);
        }),
      ),

    findCode: createLookUp({
      pool,
      guard,
      statement: FIND_CODE,
      keyOf: ({ hash }: CodeRow): Uint8Array => hash,
      fromRow: fromCodeRow,
    }),

    /** Counts a failed attempt on an unused code. */
    async countFailedAttempt(hash: Uint8Array): Promise<void> {
      const text = `
        UPDATE authorization_code SET failed_attempts = failed_attempts + 1 WHERE hash = $1 AND consumed_at IS NULL`;
      await pool.query(text, [hash]);
    },
  };
}

function fromCodeRow({ unverified: _unverified, ...row }: CodeRow): AuthorizationCode {
  return { ...row, scopes: row.scopes.filter(isScope) };
}
