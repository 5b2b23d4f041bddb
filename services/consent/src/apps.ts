import { toProfile } from '@phds/catalog/app-profile';
import { notFound } from '@phds/service-kit/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import { type ReportedApp, takeProfile } from './app-profiles.ts';
import type { Change } from './changes.ts';
import type { EvictionPublisher } from './redis-evictions.ts';
import { ENDED, wanting } from './webhooks/events.ts';

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
        const changed = await execute(
          revocations,
        )`UPDATE app SET owner_id = ${ownerId} WHERE client_id = ${clientId}`;
        if (changed === 0) throw notFound();
      }),
  };
}

/**
 * If the ledger is behind `known`, even the same status is set: a lost status in between may have been different. While the app is locked,
 * the status of the developer is also the one to return to.
 */
async function setStatus(
  pool: pg.Pool,
  { clientId, status, expectedRevision, known }: StatusCommand,
): Promise<Row | undefined> {
  const [changed] = await select<Row>(pool)`
    WITH changed AS (
      UPDATE app SET status = ${status}, revision = greatest(revision, ${known.revision}::int) + 1,
        status_changed_at = CASE WHEN status = ${status} THEN status_changed_at ELSE statement_timestamp() END,
        epoch = greatest(epoch, ${known.epoch}::int) + CASE WHEN ${status} = 'revoked' THEN 1 ELSE 0 END,
        unlocked_status = CASE WHEN lock_kind IS NULL THEN NULL ELSE ${status} END
      WHERE client_id = ${clientId} AND (lock_kind IS NULL OR ${status} <> 'active')
        AND (coalesce(unlocked_status, status) <> ${status} OR ${isBehind(known)})
        AND (${expectedRevision}::int IS NULL OR revision = ${expectedRevision}::int)
      RETURNING *
    ), begun AS (${BEGUN}), told AS (
      INSERT INTO webhook_fanout (client_id, ended_at)
      SELECT changed.client_id, statement_timestamp() FROM changed
      WHERE changed.status = 'revoked' AND EXISTS (SELECT FROM ${wanting(ENDED, sql`changed`)})
      ON CONFLICT DO NOTHING
    )
    SELECT ${APP_STATE} FROM changed`;
  return changed;
}

async function setLock(
  pool: pg.Pool,
  { clientId, lock, expectedRevision, known }: LockCommand,
): Promise<Row | undefined> {
  const kind = lock?.kind ?? null;
  const reason = lock?.reason ?? null;
  const status = sql`
    CASE WHEN ${kind}::text IS NULL THEN coalesce(unlocked_status, status)
      WHEN status = 'active' THEN 'suspended' ELSE status END`;
  const [changed] = await select<Row>(pool)`
    WITH changed AS (
      UPDATE app SET status = ${status}, revision = greatest(revision, ${known.revision}::int) + 1,
        status_changed_at = CASE WHEN status = ${status} THEN status_changed_at ELSE statement_timestamp() END,
        epoch = greatest(epoch, ${known.epoch}::int), lock_kind = ${kind}, lock_reason = ${reason},
        locked_at = CASE WHEN ${kind}::text IS NULL THEN NULL WHEN lock_kind = ${kind} THEN locked_at
          ELSE statement_timestamp() END,
        unlocked_status = CASE WHEN ${kind}::text IS NULL THEN NULL ELSE coalesce(unlocked_status, status) END
      WHERE client_id = ${clientId}
        AND (lock_kind IS DISTINCT FROM ${kind} OR lock_reason IS DISTINCT FROM ${reason} OR ${isBehind(known)})
        AND (${expectedRevision}::int IS NULL OR revision = ${expectedRevision}::int)
      RETURNING *
    ), begun AS (${BEGUN})
    SELECT ${APP_STATE} FROM changed`;
  return changed;
}

interface Row extends Omit<AppState, 'lock'> {
  readonly kind: AppLock['kind'] | null;
  readonly reason: string;
  readonly since: Date;
}

const APP_STATE = sql`status, epoch, revision, status_changed_at AS "statusChangedAt",
  lock_kind AS kind, lock_reason AS reason, locked_at AS since`;

/** Records the start of each epoch of the app that was changed. */
const BEGUN = sql`
  INSERT INTO app_epoch (client_id, epoch, started_at)
  SELECT client_id, number, statement_timestamp() FROM changed, generate_series(2, epoch) AS number
  ON CONFLICT DO NOTHING`;

const isBehind = ({ revision, epoch }: StatusCommand['known']) =>
  sql`(revision < ${revision}::int OR epoch < ${epoch}::int)`;

function toAppState(row: Row | undefined): AppState | null {
  if (row === undefined) return null;
  const { kind, reason, since, ...state } = row;
  return { ...state, lock: kind === null ? null : { kind, reason, since } };
}

async function put(tx: pg.ClientBase, app: ReportedApp): Promise<AppState> {
  const { clientId, ownerId, updatedAt } = app;
  await execute(tx)`
    INSERT INTO app (client_id, owner_id, profile, profile_updated_at)
    VALUES (${clientId}, ${ownerId}, ${toProfile((field) => app[field])}, ${updatedAt})
    ON CONFLICT (client_id) DO NOTHING`;
  const [row] = await select<Row>(tx)`
    SELECT ${APP_STATE} FROM app WHERE client_id = ${clientId} FOR NO KEY UPDATE`;
  const state = toAppState(row);
  if (state === null) throw new Error(`app ${clientId} is gone although it was just put`);
  await takeProfile(tx, app);
  return state;
}

/** In a separate statement, which sees the commit of a concurrent call that the change may have waited for. */
async function findAppState(pool: pg.Pool, clientId: string): Promise<AppState | null> {
  const [row] = await select<Row>(pool)`SELECT ${APP_STATE} FROM app WHERE client_id = ${clientId}`;
  return toAppState(row);
}
