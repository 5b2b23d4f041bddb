import { PROFILE_FIELDS, type Profile, profileOf, toProfile } from '@phds/catalog/app-profile';
import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { Scope } from '@phds/catalog/scopes';
import { inTransaction } from '@phds/service-kit/postgres/postgres';
import { readStatement } from '@phds/service-kit/postgres/sql';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { App, LedgerState } from '../app.ts';
import type { SettingsChange } from '../app-settings.ts';
import type { PrismaClient, App as StoredApp } from './generated/client.ts';
import { createLookUp, toColumns, toInsert, withKnownScopes } from './statements.ts';

const FIND_CREDENTIAL = readStatement(new URL('sql/find-credential.sql', import.meta.url));

/** Which apps are listed; null for all. */
export interface AppFilter {
  readonly ownerId: string | null;
  readonly lockKind: string | null;
}

export interface AppPools {
  readonly pool: pg.Pool;
  /** For `alone`, whose changes need further connections. */
  readonly locks: pg.Pool;
}

export type AppStore = ReturnType<typeof createPostgresApps>;

/** Apps in Postgres. */
export function createPostgresApps({ pool, locks }: AppPools, prisma: PrismaClient, guard: RestoreGuard) {
  const findCredential = createLookUp({
    pool,
    guard,
    statement: FIND_CREDENTIAL,
    keyOf: ({ clientId }: AppRow) => clientId,
  });

  return {
    /**
     * Finds by client id with one indexed look-up, whether it exists or not. An app whose secret or keys a restore suspends is
     * returned as suspended.
     */
    async findCredential(clientId: string): Promise<App | null> {
      const row = await findCredential(clientId);
      return row && toApp(row);
    },

    async findApp(clientId: string): Promise<App | null> {
      const row = await prisma.app.findFirst({ where: { clientId } });
      return row && toApp(row);
    },

    /** Newest first. */
    async listApps({ ownerId, lockKind }: AppFilter, page: Page): Promise<Listed<App>> {
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
      return { items: rows.map(toApp), total };
    },

    countApps: (ownerId: string): Promise<number> => prisma.app.count({ where: { ownerId } }),

    /** Runs `change` while no other change of this app is in progress, at any replica. */
    alone: <T>(clientId: string, change: () => Promise<T>): Promise<T> =>
      whileLocked(locks, `app ${clientId}`, change),

    ...createChanges(pool, prisma, guard),
  };
}

function createChanges(pool: pg.Pool, prisma: PrismaClient, guard: RestoreGuard) {
  /** A restore that is detected later would treat a secret created before as an older one. */
  const inVerified = <T>(use: (client: pg.ClientBase) => Promise<T>): Promise<T> =>
    guard.verified(() =>
      inTransaction(pool, async (client) => {
        await guard.requireVerified(client);
        return use(client);
      }),
    );

  return {
    /** Stores a new app unless its owner already has `limit` apps, in which case it returns false. Exact under concurrency. */
    insertApp: (app: App, limit: number): Promise<boolean> =>
      inVerified(async (client) => {
        // Serialises the registrations of one developer, so that the count is exact.
        const lockText = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
        await client.query(lockText, [`apps of ${app.ownerId}`]);
        const { rowCount } = await client.query('SELECT FROM app WHERE owner_id = $1', [app.ownerId]);
        if ((rowCount ?? 0) >= limit) return false;
        await client.query(toInsert('app', toRow(app)));
        return true;
      }),

    /**
     * Replaces the given fields; null when the app has changed or is no longer this owner's. `updatedAt` increases with every change,
     * whatever `now` is. The method `private_key_jwt` ends the secret.
     */
    async updateSettings(known: KnownApp, change: SettingsChange, now: Date): Promise<App | null> {
      const { clientId } = known;
      const { text, values } = toUpdate(known, change, now);
      if (!(await inVerified(async (client) => (await client.query(text, values)).rowCount === 1)))
        return null;
      return toApp(await prisma.app.findFirstOrThrow({ where: { clientId } }));
    },

    /** False unless the app belongs to one of these two. An erased developer is an empty id. */
    async setOwner(clientId: string, ownerId: string, formerId: string): Promise<boolean> {
      const where = { clientId, ownerId: { in: [ownerId, formerId] } };
      return (await prisma.app.updateMany({ where, data: { ownerId } })).count === 1;
    },

    /**
     * Replaces the secret; false if the app is revoked, has this secret already or has none because of its key. The old one fails from
     * the commit on.
     */
    // In a transaction, so that the commit is skipped when the developer, who would be the only one to get the new secret, has
    // stopped waiting.
    replaceSecret: (clientId: string, { secretHash, secretLast4 }: StoredSecret, now: Date) =>
      inVerified(async (client) => {
        return (await client.query(REPLACE_SECRET, [clientId, secretHash, secretLast4, now])).rowCount === 1;
      }),

    /** Stores the ledger's state unless ours is newer. A new epoch removes the secret and the keys. */
    async applyLedgerState(clientId: string, state: LedgerState): Promise<void> {
      const { status, epoch, ledgerRevision, statusChangedAt, lockKind, lockReason, lockedAt } = state;
      const values = [status, epoch, ledgerRevision, statusChangedAt, lockKind, lockReason, lockedAt];
      await pool.query(APPLY_LEDGER_STATE, [clientId, ...values]);
    },
  };
}

/** A row as it is read. */
type AppRow = Omit<StoredApp, 'scopes'> & { readonly scopes: readonly Scope[] };

/** Texts that the row lacks are empty: the catalog got them later. */
function toApp({ profile, ...row }: Omit<StoredApp, 'scopes'> & { readonly scopes: readonly string[] }): App {
  const texts = profile as Partial<Profile>;
  return { ...withKnownScopes(row), ...toProfile((field) => texts[field] ?? '') };
}

/** An app, or some of its fields, as its columns. */
function toRow(fields: Partial<App>) {
  const columns = Object.entries(fields).filter(([name]) => !PROFILE_FIELDS.some((field) => field === name));
  return { ...Object.fromEntries(columns), profile: profileOf(fields) };
}

/** What is stored of a secret. */
export type StoredSecret = Pick<App, 'secretHash' | 'secretLast4'>;

/** In no transaction, because the change calls the ledger. */
async function whileLocked<T>(pool: pg.Pool, name: string, change: () => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [name]);
    return await change();
  } finally {
    const isFree = await client.query('SELECT pg_advisory_unlock_all()').then(
      () => true,
      () => false,
    );
    client.release(!isFree);
  }
}

/** An app as its change has seen it. */
type KnownApp = Pick<App, 'clientId' | 'ownerId' | 'updatedAt'>;

function toUpdate({ clientId, ownerId, updatedAt }: KnownApp, change: SettingsChange, now: Date) {
  const { profile, ...columns } = toRow(change);
  const { names, values } = toColumns(columns);
  // Uses the row's own time if the clock is behind, because consent orders changes by this time.
  const set = [
    "updated_at = greatest($4::timestamptz, updated_at + interval '1 millisecond')",
    'profile = profile || $5::jsonb',
    ...names.map((name, index) => `${name} = $${index + 6}`),
    ...(change.tokenEndpointAuthMethod === 'private_key_jwt'
      ? ["secret_hash = NULL, secret_last4 = ''"]
      : []),
  ];
  const text = `UPDATE app SET ${set.join(', ')} WHERE client_id = $1 AND owner_id = $2 AND updated_at = $3`;
  return { text, values: [clientId, ownerId, updatedAt, now, profile, ...values] };
}

const REPLACE_SECRET = `
  UPDATE app SET secret_hash = $2, secret_last4 = $3,
    secret_rotated_at = $4, updated_at = greatest($4::timestamptz, updated_at)
  WHERE client_id = $1 AND status <> 'revoked' AND token_endpoint_auth_method = 'client_secret_basic' AND secret_hash IS DISTINCT FROM $2`;

// A revocation may be overtaken by a later re-activation, so any newer epoch removes the secret and the keys. An older epoch, from a restored ledger,
// would bring dead credentials back and is ignored. The same revision is the same state.
const APPLY_LEDGER_STATE = `
  UPDATE app SET status = $2::app_status, epoch = greatest(epoch, $3::int), ledger_revision = $4, status_changed_at = $5,
    lock_kind = $6, lock_reason = $7, locked_at = $8, updated_at = greatest(updated_at, $5::timestamptz),
    secret_hash = CASE WHEN epoch < $3::int THEN NULL ELSE secret_hash END,
    secret_last4 = CASE WHEN epoch < $3::int THEN '' ELSE secret_last4 END,
    jwks = CASE WHEN epoch < $3::int THEN '' ELSE jwks END,
    jwks_uri = CASE WHEN epoch < $3::int THEN '' ELSE jwks_uri END,
    jwks_fetched_at = CASE WHEN epoch < $3::int THEN NULL ELSE jwks_fetched_at END,
    jwks_failure = CASE WHEN epoch < $3::int THEN '' ELSE jwks_failure END
  WHERE client_id = $1 AND ledger_revision <= $4`;
