import type pg from 'pg';

const USE = {
  name: 'use-jwt',
  text: 'INSERT INTO used_jwt (hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING',
};

export type UsedJwts = ReturnType<typeof createPgUsedJwts>;

/** Used client assertions and DPoP proofs in Postgres. */
export function createPgUsedJwts(pool: pg.Pool) {
  return {
    /**
     * Notes the use of a JWT, by a SHA-256 that identifies it, until `expiresAt`. False if it was used before. Of concurrent calls one
     * gets true, also of those of other processes.
     */
    async use(hash: Uint8Array, expiresAt: Date): Promise<boolean> {
      return (await pool.query({ ...USE, values: [hash, expiresAt] })).rowCount === 1;
    },
  };
}
