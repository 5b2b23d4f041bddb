import type pg from 'pg';
import type { App } from '../app.ts';
import type { ParsedKeys } from '../public-keys.ts';

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

/** Where the keys of an app are. */
export type KeyPlace = Pick<App, 'clientId' | 'jwksUri'>;

/** Which places are due. */
interface Due {
  readonly now: Date;
  readonly askedBefore: Date;
  /** Apps with another time. */
  readonly named: { readonly clientIds: readonly string[]; readonly askedBefore: Date };
  readonly limit: number;
}

export type FetchedKeysStore = ReturnType<typeof createPgFetchedKeys>;

/** Fetched keys of apps in Postgres. */
export function createPgFetchedKeys(pool: pg.Pool) {
  return {
    /**
     * Takes the places that were last asked before that time, or never, except those of revoked apps. Nobody else gets them until they are
     * due again.
     */
    async claim({ now, askedBefore, named, limit }: Due): Promise<readonly KeyPlace[]> {
      const values = [now, askedBefore, named.askedBefore, named.clientIds, limit];
      return (await pool.query<KeyPlace>(CLAIM, values)).rows;
    },
    /** Stores what was fetched from there, unless the app has another place by now. */
    async put({ clientId, jwksUri }: KeyPlace, keys: ParsedKeys, now: Date): Promise<void> {
      if ('fault' in keys) await pool.query(PUT_FAULT, [clientId, jwksUri, keys.fault]);
      else await pool.query(PUT, [clientId, jwksUri, keys.jwks, now]);
    },
  };
}
