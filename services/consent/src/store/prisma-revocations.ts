import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { RevocationStore } from '../app/ports.ts';
import type { PrismaClient } from './generated/client.ts';

/** Revoked token families and single tokens, each in its own table. */
export function createPrismaRevocations(prisma: PrismaClient): RevocationStore {
  return translatingErrors({
    async revokeFamily(familyId, expiresAt) {
      await prisma.$executeRaw`
        INSERT INTO revoked_family (family_id, expires_at) VALUES (${familyId}, ${expiresAt})
        ON CONFLICT (family_id) DO UPDATE SET expires_at = greatest(revoked_family.expires_at, EXCLUDED.expires_at)`;
    },
    async revokeToken(tokenHash, expiresAt) {
      await prisma.$executeRaw`
        INSERT INTO revoked_token (token_hash, expires_at) VALUES (${Buffer.from(tokenHash)}, ${expiresAt})
        ON CONFLICT (token_hash) DO UPDATE SET expires_at = greatest(revoked_token.expires_at, EXCLUDED.expires_at)`;
    },
  });
}
