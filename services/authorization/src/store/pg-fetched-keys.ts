import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type pg from 'pg';
import type { FetchedKeysStore, KeyPlace } from '../app/ports.ts';

const CLAIM = `
  UPDATE app SET jwks_asked_at = $1 WHERE client_id = ANY(ARRAY(
    SELECT client_id FROM app
    WHERE jwks_uri <> '' AND status <> 'revoked'
      AND (jwks_asked_at IS NULL OR jwks_asked_at <= $2 OR (jwks_asked_at <= $3 AND client_id = ANY($4)))
    ORDER BY jwks_asked_at NULLS FIRST LIMIT $5 FOR UPDATE SKIP LOCKED))
  RETURNING client_id AS "clientId", jwks_uri AS "jwksUri"`;

const PUT = `
  UPDATE app SET jwks = $3, jwks_fetched_at = $4, jwks_failure = '' WHERE client_id = $1 AND jwks_uri = $2`;
const PUT_FAULT = 'UPDATE app SET jwks_failure = $3 WHERE client_id = $1 AND jwks_uri = $2';

/** Fetched keys of apps in Postgres. */
export function createPgFetchedKeys(pool: pg.Pool): FetchedKeysStore {
  return translatingErrors({
    async claim({ now, askedBefore, named, limit }) {
      const values = [now, askedBefore, named.askedBefore, named.clientIds, limit];
      return (await pool.query<KeyPlace>(CLAIM, values)).rows;
    },
    async put({ clientId, jwksUri }, keys, now) {
      if ('fault' in keys) await pool.query(PUT_FAULT, [clientId, jwksUri, keys.fault]);
      else await pool.query(PUT, [clientId, jwksUri, keys.jwks, now]);
    },
  });
}
