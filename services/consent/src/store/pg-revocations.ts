import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { RevocationStore } from '../app/ports.ts';

/** Revoked token families and single tokens, each in its own table. */
export function createPgRevocations(pool: pg.Pool): RevocationStore {
  return translatingErrors({
    async revokeFamily(familyId, expiresAt) {
      await execute(pool)`
        INSERT INTO revoked_family (family_id, expires_at) VALUES (${familyId}, ${expiresAt})
        ON CONFLICT (family_id) DO UPDATE SET expires_at = greatest(revoked_family.expires_at, EXCLUDED.expires_at)`;
    },
    async revokeToken(tokenHash, expiresAt) {
      await execute(pool)`
        INSERT INTO revoked_token (token_hash, expires_at) VALUES (${Buffer.from(tokenHash)}, ${expiresAt})
        ON CONFLICT (token_hash) DO UPDATE SET expires_at = greatest(revoked_token.expires_at, EXCLUDED.expires_at)`;
    },
  });
}
