import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { Change } from './changes.ts';
import type { EvictionPublisher } from './events/redis-evictions.ts';

interface Parts {
  readonly pools: { readonly revocations: pg.Pool };
  readonly change: Change;
  readonly evictions: EvictionPublisher;
}

export type Revocations = ReturnType<typeof createRevocations>;

/** Revoked token families and single tokens, each in its own table. In effect when it returns; doing it twice has no further effect. */
export function createRevocations({ pools: { revocations: pool }, change, evictions }: Parts) {
  return {
    revokeFamily: (familyId: string, expiresAt: Date) =>
      change('family', async () => {
        await execute(pool)`
          INSERT INTO revoked_family (family_id, expires_at) VALUES (${familyId}, ${expiresAt})
          ON CONFLICT (family_id) DO UPDATE SET expires_at = greatest(revoked_family.expires_at, EXCLUDED.expires_at)`;
        evictions.publish({ case: 'familyId', value: familyId });
      }),
    revokeToken: (tokenHash: Uint8Array, expiresAt: Date) =>
      change('token', async () => {
        await execute(pool)`
          INSERT INTO revoked_token (token_hash, expires_at) VALUES (${Buffer.from(tokenHash)}, ${expiresAt})
          ON CONFLICT (token_hash) DO UPDATE SET expires_at = greatest(revoked_token.expires_at, EXCLUDED.expires_at)`;
        evictions.publish({ case: 'tokenHash', value: tokenHash });
      }),
  };
}
