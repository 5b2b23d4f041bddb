import { isScope } from '@phds/catalog/scopes';
import { requireTimeLeft } from '@phds/service-kit/postgres-client';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type { RestoreGuard } from '@phds/service-kit/restore-guard';
import type { Exchange, LockedRefreshToken, NewAccessToken, Rotation, TokenStore } from '../app/ports.ts';
import { CODE_MAX_FAILED_ATTEMPTS } from '../domain/code.ts';
import type { RefreshToken } from '../domain/token.ts';
import type { Database } from './database.ts';
import { toBytes } from './database.ts';
import type { PrismaClient } from './generated/client.ts';
import { inVerified, isSuspended, requireVerified } from './restore-guard.ts';

/**
 * Minimum remaining time of the caller, in milliseconds, when a code is consumed: for the commit and for two shared proofs of it,
 * the current one and the next (RestoreGuard.acknowledge). Together they take a few milliseconds; a quarter of the gateway's 2 s is
 * reserved for a slow disk or standby.
 */
const EXCHANGE_MARGIN_MS = 500;

/** Tokens and families in Postgres, except the hot look-up of an access token. */
export function createPrismaTokens(
  prisma: PrismaClient,
  guard: RestoreGuard,
): Omit<TokenStore, 'findAccessToken'> {
  return translatingErrors({
    async exchange(exchange) {
      // The response waits for a proof, and a retry after a late response is a replay. Therefore anything that delays proofs must
      // delay the exchange before it consumes the code, where the caller's deadline ends it.
      await guard.acknowledge();
      return inVerified(prisma, guard, async (tx) => {
        if (!(await consumeCode(tx, exchange))) return false;
        await insertFamily(tx, exchange);
        requireTimeLeft(EXCHANGE_MARGIN_MS);
        return true;
      });
    },

    insertOwnToken: (token) => inVerified(prisma, guard, (tx) => insertOwnToken(tx, token)),

    findRefreshToken: (hash) =>
      guard.verified(async () => {
        await requireVerified(prisma, guard);
        return findRefreshToken(prisma, hash);
      }),

    withLockedRefreshToken: (hash, use) =>
      inVerified(prisma, guard, async (tx) => {
        await tx.$executeRaw`
          SELECT id FROM token_family
          WHERE id = (SELECT family_id FROM refresh_token WHERE hash = ${toBytes(hash)})
          FOR UPDATE`;
        // A separate statement, which sees what the previous holder of the lock has committed.
        const token = await findRefreshToken(tx, hash);
        return use(token === null ? null : toLocked(tx, token));
      }),

    async markFamilyRevoked(id, now) {
      await prisma.tokenFamily.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now } });
    },

    async markTokenRevoked(hash, now) {
      const where = { hash: toBytes(hash), revokedAt: null };
      await prisma.accessToken.updateMany({ where, data: { revokedAt: now } });
    },
  });
}

/** The one conditional statement that decides an exchange. */
async function consumeCode(tx: Database, { codeHash, family, now }: Exchange): Promise<boolean> {
  const consumed = await tx.$executeRaw`
    UPDATE authorization_code AS code SET consumed_at = ${now}, family_id = ${family.id}
    FROM app
    WHERE code.hash = ${toBytes(codeHash)} AND code.consumed_at IS NULL AND code.expires_at > ${now}
      AND code.failed_attempts < ${CODE_MAX_FAILED_ATTEMPTS}
      AND code.restore_number >= coalesce((SELECT below FROM suspension), 0)
      AND app.client_id = code.client_id AND app.status = 'active' AND app.epoch = code.app_epoch`;
  return consumed === 1;
}

async function insertFamily(tx: Database, { family, access, refreshHash, now }: Exchange): Promise<void> {
  const scopes = [...access.scopes];
  const { id: familyId, userId, grantId, expiresAt } = family;
  await tx.tokenFamily.create({ data: { ...family, createdAt: now } });
  await tx.refreshToken.create({
    data: { hash: toBytes(refreshHash), familyId, scopes, issuedAt: now, expiresAt },
  });
  await tx.accessToken.create({
    data: { ...access, hash: toBytes(access.hash), scopes, familyId, userId, grantId },
  });
}

async function insertOwnToken(tx: Database, token: NewAccessToken): Promise<boolean> {
  const { hash, clientId, scopes, appEpoch, issuedAt, expiresAt } = token;
  const inserted = await tx.$executeRaw`
    INSERT INTO access_token (hash, client_id, scopes, app_epoch, issued_at, expires_at)
    SELECT ${toBytes(hash)}, client_id, ${[...scopes]}, epoch, ${issuedAt}, ${expiresAt}
    FROM app WHERE client_id = ${clientId} AND status = 'active' AND epoch = ${appEpoch}`;
  return inserted === 1;
}

async function findRefreshToken(database: Database, hash: Uint8Array): Promise<RefreshToken | null> {
  const row = await database.refreshToken.findUnique({
    where: { hash: toBytes(hash) },
    include: { family: true },
  });
  if (row === null) return null;
  const { successorHash, familyId: _familyId, restoreNumber, ...token } = row;
  return {
    ...token,
    scopes: row.scopes.filter(isScope),
    suspended: await isSuspended(database, restoreNumber),
    successorUsed: successorHash !== null && (await isUsed(database, successorHash)),
  };
}

async function isUsed(database: Database, hash: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const successor = await database.refreshToken.findUnique({ where: { hash }, select: { rotatedAt: true } });
  // A successor is deleted only with its family, and then its predecessor is deleted too.
  return successor?.rotatedAt !== null;
}

function toLocked(tx: Database, token: RefreshToken): LockedRefreshToken {
  return {
    token,
    rotate: (rotation) => rotate(tx, token, rotation),
    findAccessExpiry: async (hash) => {
      const where = { hash: toBytes(hash) };
      const row = await tx.accessToken.findUnique({ where, select: { expiresAt: true } });
      return row?.expiresAt ?? null;
    },
  };
}

async function rotate(tx: Database, token: RefreshToken, rotation: Rotation): Promise<void> {
  const { access, familyExpiresAt, now } = rotation;
  const { id: familyId, userId, grantId } = token.family;
  const successorHash = toBytes(rotation.successorHash);
  await tx.refreshToken.create({
    data: {
      hash: successorHash,
      familyId,
      scopes: [...token.scopes],
      issuedAt: now,
      expiresAt: familyExpiresAt,
    },
  });
  const scopes = [...access.scopes];
  await tx.accessToken.create({
    data: { ...access, hash: toBytes(access.hash), scopes, familyId, userId, grantId },
  });
  await tx.refreshToken.update({
    where: { hash: toBytes(token.hash) },
    data: { rotatedAt: now, rotatedScope: rotation.scope, successorHash },
  });
  await tx.tokenFamily.update({ where: { id: familyId }, data: { expiresAt: familyExpiresAt } });
}
