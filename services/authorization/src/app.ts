import {
  PROFILE_FIELDS,
  type Profile,
  type ProfileField,
  readProfile,
  toProfile,
} from '@phds/catalog/app-profile';
import {
  ACCESS_TOKEN_SECONDS,
  PUBLIC_ACCESS_TOKEN_SECONDS,
  PUBLIC_CODE_SECONDS,
} from '@phds/catalog/lifetimes';
import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { Scope } from '@phds/catalog/scopes';
import { whileLocked } from '@phds/service-kit/postgres/postgres';
import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import type { App as AppRow, Prisma, PrismaClient } from './store/generated/client.ts';
import { createLookUp, inVerified, withKnownScopes } from './store/statements.ts';

/** A registered app, as it is stored. */
export interface App
  extends Profile,
    Omit<AppRow, 'profile' | 'scopes' | 'secretRestoreNumber' | 'keysRestoreNumber'> {
  readonly scopes: readonly Scope[];
}

/** `public`: an app on a device or in a page, which can keep no secret (a public client, RFC 6749 section 2.1). */
export const APPLICATION_TYPES = ['server', 'public'] as const;
export type ApplicationType = (typeof APPLICATION_TYPES)[number];

/** The settings that a developer chooses. Absent texts are empty. */
export type AppSettings = Pick<
  App,
  | ProfileField
  | 'redirectUris'
  | 'scopes'
  | 'requirePkce'
  | 'tokenEndpointAuthMethod'
  | 'jwks'
  | 'jwksUri'
  | 'dpopBoundAccessTokens'
  | 'requirePushedAuthorizationRequests'
>;

/** What an operator approves: all but how the app and this service recognise each other. */
export const APPROVED_SETTINGS = [
  ...PROFILE_FIELDS,
  'redirectUris',
  'scopes',
] as const satisfies readonly (keyof AppSettings)[];

/** What became of `jwksUri`. */
export type KeyFetch = Pick<App, 'jwksFetchedAt' | 'jwksAskedAt' | 'jwksFailure'>;

/** A copy of the app's state in the consent ledger, which is authoritative; only replaced by a newer one. */
export type LedgerState = Pick<
  App,
  'status' | 'epoch' | 'ledgerRevision' | 'statusChangedAt' | 'lockKind' | 'lockReason' | 'lockedAt'
>;

/** The operator's lock, or null. A locked app is never active, and only an operator lifts the lock. */
export function lockOf({ lockKind: kind, lockReason: reason, lockedAt: since }: LedgerState) {
  return kind === null ? null : { kind, reason: reason ?? '', since };
}

const FETCHED_KEYS_MS = 24 * 60 * 60 * 1000;

/** The keys that assertions are verified with: fetched ones for a day after they were fetched. */
export function usableKeysOf(
  { jwks, jwksUri, jwksFetchedAt }: Pick<App, 'jwks' | 'jwksUri' | 'jwksFetchedAt'>,
  now: Date,
): string {
  const age = now.getTime() - (jwksFetchedAt?.getTime() ?? Number.NEGATIVE_INFINITY);
  return jwksUri === '' || age < FETCHED_KEYS_MS ? jwks : '';
}

type Typed = Pick<App, 'applicationType'>;

/** Whether the app can keep no secret (RFC 6749 section 2.1). Everybody may know its client id and call in its name. */
export function isPublic({ applicationType }: Typed): boolean {
  return applicationType === 'public';
}

/** What the deployment does with apps without a secret: `bound` demands DPoP proofs of them. */
export const PUBLIC_APPS = ['allowed', 'bound', 'refused'] as const;
export type PublicApps = (typeof PUBLIC_APPS)[number];

/** How long a code lives, which the settings of the service limit too. */
export function codeSecondsOf(app: Typed, limit: number): number {
  return isPublic(app) ? Math.min(limit, PUBLIC_CODE_SECONDS) : limit;
}

/** How long an access token of the app lives. */
export function accessSecondsOf(app: Typed): number {
  return isPublic(app) ? PUBLIC_ACCESS_TOKEN_SECONDS : ACCESS_TOKEN_SECONDS;
}

const FIND_CREDENTIAL = readStatement(new URL('store/sql/find-credential.sql', import.meta.url));
const APPLY_LEDGER_STATE = readStatement(new URL('store/sql/apply-ledger-state.sql', import.meta.url));

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

/** A row as it is read. */
type KnownRow = Omit<AppRow, 'scopes'> & { readonly scopes: readonly Scope[] };

/** Texts that the row lacks are empty: the catalog got them later. */
function toApp({ profile, ...row }: Omit<AppRow, 'scopes'> & { readonly scopes: readonly string[] }): App {
  return { ...withKnownScopes(row), ...readProfile(profile as Partial<Profile>) };
}

/** The fields that have columns of their own. */
function toColumns<Fields extends Partial<App>>(fields: Fields) {
  const columns = Object.entries(fields).filter(([name]) => !PROFILE_FIELDS.some((field) => field === name));
  return Object.fromEntries(columns) as Omit<Fields, ProfileField | 'scopes'> & { scopes?: Scope[] };
}

/** What is stored of a secret. */
export type StoredSecret = Pick<App, 'secretHash' | 'secretLast4'>;

export type AppStore = ReturnType<typeof createAppStore>;

/** Apps in Postgres. */
export function createAppStore({ pool, locks }: AppPools, prisma: PrismaClient, guard: RestoreGuard) {
  const findCredential = createLookUp({
    pool,
    guard,
    statement: FIND_CREDENTIAL,
    keyOf: ({ clientId }: KnownRow) => clientId,
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

    ...createAppChanges(pool, prisma, guard),
  };
}

/** The number of a developer's apps. No other registration of the developer counts until the transaction ends. */
async function countLocked(tx: Prisma.TransactionClient, ownerId: string): Promise<number> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`apps of ${ownerId}`}, 0))`;
  return tx.app.count({ where: { ownerId } });
}

/**
 * Secrets and keys change in transactions that are verified first: a restore that is detected later would treat them as older ones. Their
 * commit is skipped when the developer, who alone would get the new secret, has stopped waiting.
 */
function createAppChanges(pool: pg.Pool, prisma: PrismaClient, guard: RestoreGuard) {
  return {
    /** Stores a new app; false if its owner already has `limit` apps. Exact under concurrency. */
    insertApp(app: App, limit: number): Promise<boolean> {
      const data = { ...toColumns(app), profile: toProfile((field) => app[field]) };
      return inVerified(prisma, guard, async (tx) => {
        if ((await countLocked(tx, app.ownerId)) >= limit) return false;
        await tx.app.create({ data });
        return true;
      });
    },

    /**
     * Replaces the given fields; null when the app has changed or is no longer this owner's. `updatedAt` increases with every change,
     * whatever `now` is, because consent orders changes by it. The method `private_key_jwt` ends the secret.
     */
    updateSettings(known: App, change: Partial<AppSettings & KeyFetch>, now: Date) {
      const { clientId, ownerId, updatedAt } = known;
      const data = {
        ...toColumns(change),
        ...(change.tokenEndpointAuthMethod === 'private_key_jwt' && { secretHash: null, secretLast4: '' }),
        profile: toProfile((field) => change[field] ?? known[field]),
        updatedAt: new Date(Math.max(now.getTime(), updatedAt.getTime() + 1)),
      };
      return inVerified(prisma, guard, async (tx): Promise<App | null> => {
        const { count } = await tx.app.updateMany({ where: { clientId, ownerId, updatedAt }, data });
        return count === 0 ? null : toApp(await tx.app.findFirstOrThrow({ where: { clientId } }));
      });
    },

    /** False unless the app belongs to one of these two. An erased developer is an empty id. */
    async setOwner(clientId: string, ownerId: string, formerId: string): Promise<boolean> {
      const where = { clientId, ownerId: { in: [ownerId, formerId] } };
      return (await prisma.app.updateMany({ where, data: { ownerId } })).count === 1;
    },

    /** Replaces the secret; false if the app has changed or is revoked. The old secret fails from the commit on. */
    replaceSecret({ clientId, updatedAt }: App, { secretHash, secretLast4 }: StoredSecret, now: Date) {
      const where = { clientId, updatedAt, status: { not: 'revoked' } } as const;
      const data = {
        secretHash,
        secretLast4,
        secretRotatedAt: now,
        updatedAt: now < updatedAt ? updatedAt : now,
      };
      return inVerified(prisma, guard, async (tx) => (await tx.app.updateMany({ where, data })).count === 1);
    },

    /** Stores the ledger's state unless ours is newer. A new epoch removes the secret and the keys. */
    async applyLedgerState(clientId: string, state: LedgerState): Promise<void> {
      const { status, epoch, ledgerRevision, statusChangedAt, lockKind, lockReason, lockedAt } = state;
      const values = [
        clientId,
        status,
        epoch,
        ledgerRevision,
        statusChangedAt,
        lockKind,
        lockReason,
        lockedAt,
      ];
      await runStatement(pool, APPLY_LEDGER_STATE, ...values);
    },
  };
}
