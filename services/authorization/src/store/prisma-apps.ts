import { offsetOf } from '@phds/catalog/pagination';
import { isScope } from '@phds/catalog/scopes';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type { AppStore, ReplacedSecret } from '../app/app-ports.ts';
import type { App, AppLock, AppSettings } from '../domain/app.ts';
import { toBytes } from './database.ts';
import type { App as AppRow, PrismaClient } from './generated/client.ts';
import { inVerified } from './restore-guard.ts';

/** Apps in Postgres, except the hot look-up of a credential. */
export function createPrismaApps(
  prisma: PrismaClient,
  guard: RestoreGuard,
): Omit<AppStore, 'findCredential'> {
  return translatingErrors({
    async findApp(clientId) {
      const row = await prisma.app.findUnique({ where: { clientId } });
      return row === null ? null : fromAppRow(row);
    },

    async listApps({ ownerId, lockKind }, page) {
      const where = { ...(ownerId !== null && { ownerId }), ...(lockKind !== null && { lockKind }) };
      const [rows, total] = await Promise.all([
        prisma.app.findMany({
          where,
          orderBy: [{ createdAt: 'desc' }, { clientId: 'asc' }],
          skip: offsetOf(page),
          take: page.pageSize,
        }),
        prisma.app.count({ where }),
      ]);
      return { items: rows.map(fromAppRow), total };
    },

    countApps: (ownerId) => prisma.app.count({ where: { ownerId } }),

    insertApp: (app, secret, limit) =>
      inVerified(prisma, guard, async (tx) => {
        // Serialises the registrations of one developer, so that the count is exact.
        await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`apps of ${app.ownerId}`}, 0))`;
        if ((await tx.app.count({ where: { ownerId: app.ownerId } })) >= limit) return false;
        await tx.app.create({
          data: {
            ...toColumns(app),
            clientId: app.clientId,
            ownerId: app.ownerId,
            status: app.status,
            epoch: app.epoch,
            ledgerRevision: app.ledgerRevision,
            statusChangedAt: app.statusChangedAt,
            ...toLockColumns(app.lock),
            secretHash: toBytes(secret.hash),
            secretLast4: secret.last4,
            secretRotatedAt: app.createdAt,
            createdAt: app.createdAt,
            updatedAt: app.updatedAt,
          },
        });
        return true;
      }),

    ...createChanges(prisma, guard),
  });
}

function createChanges(
  prisma: PrismaClient,
  guard: RestoreGuard,
): Pick<AppStore, 'updateSettings' | 'replaceSecret' | 'applyLedgerState'> {
  return {
    updateSettings: (clientId, ownerId, change, now) =>
      prisma.$transaction(async (tx) => {
        // Uses the row's own time if the clock is behind, because consent orders changes by this time.
        await tx.$executeRaw`
          UPDATE app SET updated_at = greatest(${now}::timestamptz, updated_at + interval '1 millisecond')
          WHERE client_id = ${clientId} AND owner_id = ${ownerId}`;
        const data = toColumns(change);
        const [row] = await tx.app.updateManyAndReturn({ where: { clientId, ownerId }, data });
        return row === undefined ? null : fromAppRow(row);
      }),

    replaceSecret: (clientId, secret, now, keptUntil) =>
      // In a transaction, so that the commit is skipped when the developer, who would be the only one to get the new secret, has
      // stopped waiting.
      inVerified(prisma, guard, async (tx) => {
        // A trigger completes and clears what is kept of the replaced secret.
        const [replaced] = await tx.$queryRaw<ReplacedSecret[]>`
          UPDATE app SET secret_hash = ${toBytes(secret.hash)}, secret_last4 = ${secret.last4},
                         previous_secret_hash = CASE WHEN ${keptUntil}::timestamptz IS NULL THEN NULL ELSE secret_hash END,
                         previous_secret_last4 = secret_last4, previous_secret_expires_at = ${keptUntil}::timestamptz,
                         secret_rotated_at = ${now}, updated_at = greatest(${now}::timestamptz, updated_at)
          WHERE client_id = ${clientId} AND status <> 'revoked'
          RETURNING previous_secret_last4 AS "previousSecretLast4",
                    previous_secret_expires_at AS "previousSecretExpiresAt"`;
        return replaced ?? null;
      }),

    // A revocation may be overtaken by a later re-activation, so any newer epoch removes the secret. An older epoch, from a
    // restored ledger, would bring dead credentials back and is ignored.
    // The same revision is the same state, except for what an earlier release left out.
    async applyLedgerState(clientId, { status, epoch, revision, statusChangedAt, lock }) {
      const { lockKind, lockReason, lockedAt } = toLockColumns(lock);
      await prisma.$executeRaw`
        UPDATE app SET status = ${status}::app_status, epoch = greatest(epoch, ${epoch}), ledger_revision = ${revision},
                       status_changed_at = ${statusChangedAt},
                       lock_kind = ${lockKind}, lock_reason = ${lockReason}, locked_at = ${lockedAt}::timestamptz,
                       updated_at = greatest(updated_at, ${statusChangedAt}),
                       secret_hash = CASE WHEN epoch < ${epoch} THEN NULL ELSE secret_hash END,
                       secret_last4 = CASE WHEN epoch < ${epoch} THEN '' ELSE secret_last4 END
        WHERE client_id = ${clientId} AND ledger_revision <= ${revision}`;
    },
  };
}

type Columns<Settings> = { -readonly [Field in keyof Settings]: Mutable<Settings[Field]> };
type Mutable<Value> = Value extends readonly (infer Item)[] ? Item[] : Value;

/** The settings among the fields, with lists in Prisma's form. */
function toColumns<Settings extends Partial<AppSettings>>(
  settings: Settings,
): Columns<Pick<Settings, keyof AppSettings & keyof Settings>> {
  const columns: Record<string, unknown> = {};
  for (const field of SETTINGS) {
    const value = settings[field];
    if (value !== undefined) columns[field] = Array.isArray(value) ? [...value] : value;
  }
  return columns as Columns<Pick<Settings, keyof AppSettings & keyof Settings>>;
}

const SETTINGS: readonly (keyof AppSettings)[] = [
  'name',
  'redirectUris',
  'scopes',
  'description',
  'developerName',
  'homepageUrl',
  'privacyPolicyUrl',
  'logoUrl',
  'requirePkce',
];

function toLockColumns(lock: AppLock | null) {
  return {
    lockKind: lock?.kind ?? null,
    lockReason: lock?.reason ?? null,
    lockedAt: lock?.since ?? null,
  };
}

function fromLockColumns({ lockKind: kind, lockReason: reason, lockedAt: since }: AppRow): AppLock | null {
  return (kind === 'suspension' || kind === 'approval') && since !== null
    ? { kind, reason: reason ?? '', since }
    : null;
}

export function fromAppRow(row: AppRow): App {
  const { secretHash: _hash, secretRotatedAt: _rotatedAt, secretRestoreNumber: _number, ...others } = row;
  const { previousSecretHash: _previous, previousSecretRestoreNumber: _previousNumber, ...unlocked } = others;
  const { lockKind: _kind, lockReason: _reason, lockedAt: _lockedAt, ...app } = unlocked;
  return { ...app, lock: fromLockColumns(row), scopes: row.scopes.filter(isScope) };
}
