import { toProfile } from '@phds/catalog/app-profile';
import { notFound } from '@phds/service-kit/errors';
import { queryRows, readStatement, runStatement, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { type ReportedApp, takeProfile } from './app-profiles.ts';
import type { Change } from './changes.ts';
import type { EvictionPublisher } from './redis-evictions.ts';

/** Whether an app may act: `active`, `suspended` (reversible), `revoked` (permanently ends everything issued so far). */
export type AppStatus = 'active' | 'suspended' | 'revoked';

/** An operator's lock. A locked app is never active, and its developer cannot change that. */
export interface AppLock {
  /** An operator suspended the app, or it waits for an operator's approval. */
  readonly kind: 'suspension' | 'approval';
  /** For the developer; empty for an approval. */
  readonly reason: string;
  readonly since: Date;
}

/** The status of an app in the ledger. */
interface AppState {
  readonly status: AppStatus;
  /** Everything issued in an older epoch is dead. */
  readonly epoch: number;
  /** Increases with every change of status, so that readers can order changes. */
  readonly revision: number;
  readonly statusChangedAt: Date;
  readonly lock: AppLock | null;
}

/** A change of an app that is at a certain revision. */
export interface AppCommand {
  readonly clientId: string;
  /** Null for any. */
  readonly expectedRevision: number | null;
  /** The highest epoch and revision known to authorization. A restored ledger continues above them. Zero means unknown. */
  readonly known: Pick<AppState, 'epoch' | 'revision'>;
}

interface StatusCommand extends AppCommand {
  readonly status: AppStatus;
}

interface LockCommand extends AppCommand {
  /** Null lifts the lock. */
  readonly lock: Pick<AppLock, 'kind' | 'reason'> | null;
}

const FIND_OWN = readStatement(new URL('store/sql/find-own-app.sql', import.meta.url));
const ADD = readStatement(new URL('store/sql/add-app.sql', import.meta.url));
const LOCK = readStatement(new URL('store/sql/lock-app.sql', import.meta.url));
const FIND = readStatement(new URL('store/sql/find-app-state.sql', import.meta.url));
const SET_OWNER = readStatement(new URL('store/sql/set-app-owner.sql', import.meta.url));
const SET_STATUS = readStatement(new URL('store/sql/set-app-status.sql', import.meta.url));
const SET_LOCK = readStatement(new URL('store/sql/set-app-lock.sql', import.meta.url));

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool; readonly revocations: pg.Pool };
  readonly change: Change;
  readonly evictions: EvictionPublisher;
}

export type Apps = ReturnType<typeof createApps>;

/**
 * The apps in table `app`. Each change of status is one conditional statement, is in effect when it returns, and does nothing if the app
 * is not at the expected revision. Changes of unknown apps throw `not_found`.
 */
export function createApps({ pools: { ordinary, revocations }, change, evictions }: Parts) {
  const changeState = (
    kind: 'app_status' | null,
    clientId: string,
    run: () => Promise<Row | undefined>,
  ): Promise<AppState> =>
    change(kind, async () => {
      const state = toAppState(await run()) ?? (await findAppState(revocations, clientId));
      if (state === null) throw notFound();
      // Published even when nothing changed, because the first attempt may have crashed before publishing.
      evictions.publish({ case: 'clientId', value: clientId });
      return state;
    });
  return {
    /** Creates the app (active, epoch 1) or replaces its profile unless a newer one is stored. Never changes status, epoch or owner. */
    put: (app: ReportedApp) => change(null, () => transact(ordinary, (tx) => put(tx, app))),
    /**
     * Becoming revoked starts a new epoch. Setting the same status changes nothing unless the ledger is behind `known`. A locked app
     * does not become active.
     */
    setStatus: (command: StatusCommand) =>
      changeState('app_status', command.clientId, () => setStatus(revocations, command)),
    /**
     * Sets or lifts the operator's lock. A locked app that was active is suspended, and active again when the lock is lifted, unless its
     * developer has set another status meanwhile.
     */
    setLock: (command: LockCommand) =>
      changeState(null, command.clientId, () => setLock(revocations, command)),
    setOwner: (clientId: string, ownerId: string) =>
      change(null, async () => {
        const changed = await runStatement(revocations, SET_OWNER, clientId, ownerId);
        if (changed === 0) throw notFound();
      }),
  };
}

/** A lost status in between may have been different, so even the same status is set if the ledger is behind `known`. */
async function setStatus(
  pool: pg.Pool,
  { clientId, status, expectedRevision, known }: StatusCommand,
): Promise<Row | undefined> {
  const values = [clientId, status, expectedRevision, known.revision, known.epoch];
  const [changed] = await queryRows<Row>(pool, SET_STATUS, ...values);
  return changed;
}

async function setLock(
  pool: pg.Pool,
  { clientId, lock, expectedRevision, known }: LockCommand,
): Promise<Row | undefined> {
  const set = [lock?.kind ?? null, lock?.reason ?? null];
  const values = [clientId, ...set, expectedRevision, known.revision, known.epoch];
  const [changed] = await queryRows<Row>(pool, SET_LOCK, ...values);
  return changed;
}

interface Row extends Omit<AppState, 'lock'> {
  readonly kind: AppLock['kind'] | null;
  readonly reason: string;
  readonly since: Date;
}

function toAppState(row: Row | undefined): AppState | null {
  if (row === undefined) return null;
  const { kind, reason, since, ...state } = row;
  return { ...state, lock: kind === null ? null : { kind, reason, since } };
}

async function put(tx: pg.ClientBase, app: ReportedApp): Promise<AppState> {
  const { clientId, ownerId, updatedAt } = app;
  const profile = toProfile((field) => app[field]);
  await runStatement(tx, ADD, clientId, ownerId, profile, updatedAt);
  const state = await lockApp(tx, clientId);
  if (state === null) throw new Error(`app ${clientId} is gone although it was just put`);
  await takeProfile(tx, app);
  return state;
}

/** Locks the app's row, so that openings and status changes of one app happen in sequence. */
export async function lockApp(tx: pg.ClientBase, clientId: string): Promise<AppState | null> {
  const [row] = await queryRows<Row>(tx, LOCK, clientId);
  return toAppState(row);
}

/** In a separate statement, which sees the commit of a concurrent call that the change may have waited for. */
async function findAppState(pool: pg.Pool, clientId: string): Promise<AppState | null> {
  const [row] = await queryRows<Row>(pool, FIND, clientId);
  return toAppState(row);
}

/** An app and the developer who asks. Somebody else's app is treated as unknown. */
export interface OwnedApp {
  readonly clientId: string;
  readonly ownerId: string;
}

/** Throws `not_found` unless the app is known and theirs. */
export async function requireOwnApp(pool: pg.Pool, { clientId, ownerId }: OwnedApp): Promise<void> {
  if ((await runStatement(pool, FIND_OWN, clientId, ownerId)) === 0) throw notFound();
}
