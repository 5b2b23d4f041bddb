import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type pg from 'pg';
import type { UsedJwts } from '../app/ports.ts';

const USE = {
  name: 'use-jwt',
  text: 'INSERT INTO used_jwt (hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
};

/** Used client assertions and DPoP proofs in Postgres. */
export function createPgUsedJwts(pool: pg.Pool): UsedJwts {
  return translatingErrors({
    async use(hash, expiresAt) {
      return (await pool.query({ ...USE, values: [hash, expiresAt] })).rowCount === 1;
    },
  });
}
