import { isScope } from '@phds/catalog/scopes';
import { inTransaction } from '@phds/service-kit/postgres/client';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/verified-query';
import type pg from 'pg';
import type { AuthorizationStore } from '../app/ports.ts';
import type { AuthorizationCode, AuthorizationRequest } from '../domain/authorization-request.ts';
import { createLookUp, toInsert } from './statements.ts';

const FIND_CODE = readStatement(new URL('sql/find-code.sql', import.meta.url));

const FIND_REQUEST = `
  SELECT pending_id AS "pendingId", client_id AS "clientId", app_epoch AS "appEpoch", redirect_uri AS "redirectUri", state,
    code_challenge AS "codeChallenge", dpop_jkt AS "dpopJkt", scopes,
    include_granted_scopes AS "includeGrantedScopes", asked_words AS "askedWords", created_at AS "createdAt", expires_at AS "expiresAt"
  FROM authorization_request WHERE pending_id = $1`;

type CodeRow = AuthorizationCode & { readonly unverified: boolean };

/** Authorization requests and codes in Postgres. */
export function createPgAuthorizations(pool: pg.Pool, guard: RestoreGuard): AuthorizationStore {
  return translatingErrors({
    async insertRequest(request) {
      await pool.query(toInsert('authorization_request', request));
    },

    async deleteRequests(pendingIds) {
      await pool.query('DELETE FROM authorization_request WHERE pending_id = ANY($1)', [pendingIds]);
    },

    async findRequest(pendingId) {
      const { rows } = await pool.query<AuthorizationRequest>(FIND_REQUEST, [pendingId]);
      const [request] = rows;
      return request === undefined ? null : { ...request, scopes: request.scopes.filter(isScope) };
    },

    async extendRequest(pendingId, expiresAt) {
      const text =
        'UPDATE authorization_request SET expires_at = greatest(expires_at, $2) WHERE pending_id = $1';
      await pool.query(text, [pendingId, expiresAt]);
    },

    putCode: ({ suspended: _suspended, ...code }) =>
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
      keyOf: ({ hash }: CodeRow) => hash,
      fromRow: fromCodeRow,
    }),

    async countFailedAttempt(hash) {
      const text = `
        UPDATE authorization_code SET failed_attempts = failed_attempts + 1 WHERE hash = $1 AND consumed_at IS NULL`;
      await pool.query(text, [hash]);
    },
  });
}

function fromCodeRow({ unverified: _unverified, ...row }: CodeRow): AuthorizationCode {
  return { ...row, scopes: row.scopes.filter(isScope) };
}
