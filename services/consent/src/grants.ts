import type { Listed, Page } from '@phds/catalog/pagination';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { empty, type Sql } from 'sql-template-tag';
import { accessCounts } from './access/counts-sql.ts';
import { type AppAsShown, asShown, findVersions, listChanges, toLatestChanges } from './app-profiles.ts';
import type { Change } from './changes.ts';
import { addEvent } from './consent-events.ts';
import {
  type AppGrantFilter,
  countGrants,
  findGrantOfApp,
  listConnectedApps,
  listGrantsOfApp,
  newestFirst,
} from './grant-lists.ts';
import {
  GRANT_COLUMNS,
  GRANT_FROM,
  GRANT_STATUS,
  type Grant,
  type GrantRow,
  type GrantStatus,
  IS_ENDING_EPOCH,
  selectGrants,
  toGrant,
  UNREVOKED,
} from './grant-rows.ts';
import { lockGrants } from './people.ts';
import type { EvictionPublisher } from './redis-evictions.ts';
import { type Narrowing, narrowTerms, sameTerms } from './terms.ts';
import { insertDeletionRequested, insertRevoked, NARROWED, writeNarrowed } from './webhooks/events.ts';

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool; readonly revocations: pg.Pool };
  readonly change: Change;
  readonly evictions: EvictionPublisher;
  /** `phds restore replay` reads the lines of it after a restore (docs/operations/restore-and-backup.md#after-a-restore). */
  readonly log: { info(fields: { readonly grantId: string }, text: string): void };
}

export type Grants = ReturnType<typeof createGrants>;

/**
 * What people allow apps, in table `consent_grant`, and how they withdraw it. Only the database's clock decides what has expired. Each
 * change locks the row, adds to the grant's history, and is in effect when it returns. Reads that find nothing, or what is another
 * person's or app's, throw `not_found`. Withdrawals have a pool of their own.
 */
export function createGrants({ pools: { ordinary, revocations }, change, evictions, log }: Parts) {
  const evict = (grantId: string) => evictions.publish({ case: 'grantId', value: grantId });
  const end = (kind: 'grant' | 'grant_by_app' | 'grant_by_operator', id: string, owner: Owner) =>
    change(kind, async () => {
      const revokedAt = found(await revoke(revocations, id, owner));
      evict(id);
      log.info({ grantId: id }, 'grant ended');
      return revokedAt;
    });
  return {
    list: (userId: string, status: GrantStatus | null, page: Page) =>
      listGrants(ordinary, userId, status, page),
    get: (id: string, userId: string) => getView(ordinary, sql`g.id = ${id} AND g.user_id = ${userId}`),
    /** Of any person. */
    getAny: (id: string) => getView(ordinary, sql`g.id = ${id}`),
    /** `before` is the id of a grant. */
    listOfApp: (clientId: string, filter: AppGrantFilter<string>, page: Page) =>
      listOfApp(ordinary, clientId, filter, page),
    getOfApp: async (id: string, clientId: string) => found(await findGrantOfApp(ordinary, id, clientId)),
    /** The apps that have or had a grant of the person, the one with the latest grant first. */
    listApps: (userId: string, page: Page) => listConnectedApps(ordinary, userId, page),

    /** Throws `conflict` for an ended grant, `invalid_request` for a widening. */
    narrow: (id: string, userId: string, narrowing: Narrowing) =>
      change('narrowing', async () => {
        await transact(revocations, (tx) => narrow(tx, id, userId, narrowing));
        evict(id);
        log.info({ grantId: id }, 'grant narrowed');
        return getView(revocations, sql`g.id = ${id} AND g.user_id = ${userId}`);
      }),
    /** Each returns when the grant ended; one that had ended keeps its status and time. */
    revoke: (id: string, userId: string) => end('grant', id, { userId }),
    revokeByApp: (id: string, clientId: string) => end('grant_by_app', id, { clientId }),
    endByOperator: (id: string) => end('grant_by_operator', id, 'anybody'),
    /** Returns how many were active. */
    revokeAll: (userId: string) =>
      change('all_grants', async () => {
        const ended = await transact(revocations, (tx) => revokeAll(tx, userId));
        for (const id of ended) {
          evict(id);
          log.info({ grantId: id }, 'grant ended');
        }
        return ended.length;
      }),
    /** Asks the app to delete what it has read; returns the time of the first request. Also for an ended grant. */
    requestDeletion: (id: string, userId: string) =>
      change(null, async () => found(await requestDeletion(ordinary, id, userId))),
  };
}

function found<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw notFound();
  return value;
}

async function getView(pool: pg.Pool, where: Sql): Promise<GrantView> {
  const [view] = await selectViews(pool, where);
  return found(view);
}

async function listGrants(
  pool: pg.Pool,
  userId: string,
  status: GrantStatus | null,
  page: Page,
): Promise<Listed<GrantView>> {
  const own = sql`g.user_id = ${userId}`;
  const where = status === null ? own : sql`${own} AND ${GRANT_STATUS} = ${status}`;
  const [views, total] = await Promise.all([
    selectViews(pool, sql`${where} ${newestFirst(page)}`),
    countGrants(pool, where),
  ]);
  return { items: views.map(shortenChanges), total };
}

async function listOfApp(
  pool: pg.Pool,
  clientId: string,
  filter: AppGrantFilter<string>,
  page: Page,
): Promise<Listed<Grant>> {
  const before = filter.before === null ? null : await findGrantOfApp(pool, filter.before, clientId);
  if (filter.before !== null && before === null)
    throw invalidRequest('before', 'must be the id of a grant of this app');
  return listGrantsOfApp(pool, clientId, { ...filter, before }, page);
}

/** Limits the changes, so that a page of grants fits into one message: all changes of twenty versions can have 70 KB. */
function shortenChanges(view: GrantView): GrantView {
  return { ...view, appChanges: view.status === 'active' ? toLatestChanges(view.appChanges) : [] };
}

interface ViewRow extends GrantRow {
  readonly userRef: string;
  /** As shown at the latest approval, like the purpose. */
  readonly app: AppAsShown;
  readonly purpose: string;
  readonly currentAppName: string;
}

type GrantView = Awaited<ReturnType<typeof selectViews>>[number];

/** Grants as their person sees them. */
async function selectViews(pool: pg.Pool, where: Sql) {
  const rows = await select<ViewRow>(pool)`
    SELECT ${GRANT_COLUMNS}, ${asShown(sql`shown_app_of(g.id, 'infinity')`)} AS app, a.name AS "currentAppName",
      g.user_ref::text AS "userRef", (
        SELECT purpose FROM consent_event WHERE grant_id = g.id AND kind = 'granted' ORDER BY at DESC LIMIT 1
      ) AS purpose
    FROM ${GRANT_FROM} WHERE ${where}`;
  if (rows.length === 0) return [];
  const clientIds = rows.map(({ clientId }) => clientId);
  const [counts, versions] = await Promise.all([
    selectAccessCounts(pool, rows),
    findVersions(pool, clientIds),
  ]);
  const byGrant = new Map(counts.map((count) => [count.grantId, count]));
  return rows.map((row) => {
    const grant = toGrant(row);
    return {
      ...grant,
      revokedBy: toRevokedBy(grant),
      redirectHost: row.app.redirectHost,
      // All since that approval, oldest first.
      appChanges: listChanges(row.app, versions.get(row.clientId) ?? []),
      lastAccessAt: byGrant.get(row.id)?.last,
      accessCount: byGrant.get(row.id)?.count,
    };
  });
}

function toRevokedBy({ status, endedBy }: Pick<Grant, 'status' | 'endedBy'>): string {
  if (status !== 'revoked') return '';
  return endedBy === 'person' ? 'user' : 'app';
}

interface AccessCount {
  readonly grantId: string;
  readonly count: number;
  readonly last: Date | null;
}

/**
 * Counts of released responses of grants, and the last one. The last of a day is the latest recorded, unless any of that day was
 * refused; then the day's records are read. All grants are of one person.
 */
function selectAccessCounts(
  pool: pg.Pool,
  grants: readonly Pick<ViewRow, 'id' | 'userRef'>[],
): Promise<AccessCount[]> {
  const [ref, grantIds] = [sql`${grants[0]?.userRef}::uuid`, grants.map(({ id }) => id)];
  return select<AccessCount>(pool)`
    WITH days AS (
      SELECT grant_id, day, sum(recorded) AS recorded, sum(refused) AS refused, max(last_at) AS last_at
      FROM ${accessCounts(sql`r.user_ref = ${ref} AND r.grant_id = ANY(${grantIds}::text[])`)} counts
      GROUP BY 1, 2
    ), latest AS (
      SELECT DISTINCT ON (grant_id) * FROM days WHERE recorded > refused ORDER BY grant_id, day DESC
    )
    SELECT total.grant_id AS "grantId", total.count::int AS count,
      CASE WHEN latest.refused = 0 THEN latest.last_at ELSE (
        SELECT r.at FROM access_record r
        WHERE r.user_ref = ${ref} AND r.grant_id = latest.grant_id AND r.refers_to IS NULL
          AND r.id >= first_id_of(latest.day::timestamp AT TIME ZONE 'UTC')
          AND r.id < first_id_of((latest.day + 1)::timestamp AT TIME ZONE 'UTC')
          AND NOT EXISTS (SELECT FROM access_record f WHERE f.refers_to = r.id)
        ORDER BY r.id DESC LIMIT 1) END AS last
    FROM (SELECT grant_id, sum(recorded - refused) AS count FROM days GROUP BY 1) total
    LEFT JOIN latest ON latest.grant_id = total.grant_id`;
}

/** The grant is read by a separate statement after the lock, in a fresh snapshot with the current clock. */
async function narrow(tx: pg.ClientBase, id: string, userId: string, narrowing: Narrowing): Promise<void> {
  await execute(tx)`SELECT 1 FROM consent_grant WHERE id = ${id} AND user_id = ${userId} FOR UPDATE`;
  const [row] = await select<GrantRow & { now: Date }>(tx)`
    SELECT ${GRANT_COLUMNS}, statement_timestamp() AS now
    FROM ${GRANT_FROM} WHERE g.id = ${id} AND g.user_id = ${userId}`;
  const { now, ...grant } = found(row);
  if (grant.status !== 'active') throw new AppError('conflict', `The grant is ${grant.status}.`);
  const terms = narrowTerms(grant, narrowing, now);
  if (sameTerms(grant, terms)) return;
  await writeNarrowed(tx, id, terms, NARROWED);
  await addEvent(tx, { kind: 'narrowed', grantId: id, at: now, terms });
}

/** Adds the end of the grants `ended` to their history. One that had expired before ended then. */
const TELL_REVOKED = sql`
  INSERT INTO consent_event (id, grant_id, at, kind, scopes, expires_at, data_from)
  SELECT gen_random_uuid(), id, revoked_at, 'revoked', scopes, expires_at, data_from FROM ended
  WHERE revoked_at < expires_at`;

/** Whose grant it has to be: of the person or the app that ends it, or of anybody, for an operator. */
type Owner = { readonly userId: string } | { readonly clientId: string } | 'anybody';

function isOwnedBy(owner: Owner): Sql {
  if (owner === 'anybody') return sql`true`;
  return 'userId' in owner ? sql`g.user_id = ${owner.userId}` : sql`g.client_id = ${owner.clientId}`;
}

/**
 * One statement, so that a revocation needs one round trip. It uses the newest version of the row and reads the clock after the row
 * is locked, so its time is after any change that it waited for. An expired grant gets a time, too: the clock may go back, to that
 * of another server, and what was acknowledged holds all the same. The end by an app or an operator is no
 * event of the person's history: `revoked_by` says it.
 */
async function revoke(pool: pg.Pool, id: string, owner: Owner): Promise<Date | null> {
  const by = enderOf(owner);
  const told = by !== 'person' ? empty : sql`told AS (${TELL_REVOKED}),`;
  const [ended] = await select<{ revokedAt: Date }>(pool)`
    WITH ended AS (
      UPDATE consent_grant g SET revoked_at = clock_timestamp(), closed_at = coalesce(g.closed_at, clock_timestamp()),
        revoked_by = ${by === 'person' ? null : by}
      WHERE g.id = ${id} AND ${isOwnedBy(owner)} AND g.revoked_at IS NULL
        AND NOT EXISTS (SELECT FROM app_epoch e WHERE ${IS_ENDING_EPOCH} AND e.started_at < g.expires_at)
      RETURNING g.*
    ), ${told} notified AS (${insertRevoked(by)})
    SELECT least(revoked_at, expires_at) AS "revokedAt" FROM ended`;
  return ended === undefined ? findEnd(pool, id, owner) : ended.revokedAt;
}

function enderOf(owner: Owner): 'person' | 'app' | 'operator' {
  if (owner === 'anybody') return 'operator';
  return 'userId' in owner ? 'person' : 'app';
}

/** When a grant that had ended before did so, also by expiry; null when it is unknown, or another person's or app's. */
async function findEnd(pool: pg.Pool, id: string, owner: Owner): Promise<Date | null> {
  const [grant] = await selectGrants(pool, sql`g.id = ${id} AND ${isOwnedBy(owner)}`);
  if (grant === undefined) return null;
  if (grant.status === 'active') throw new Error(`grant ${id} has not ended`);
  return grant.revokedAt ?? grant.expiresAt;
}

async function requestDeletion(pool: pg.Pool, id: string, userId: string): Promise<Date | null> {
  const [requested] = await select<{ at: Date }>(pool)`
    WITH requested AS (
      UPDATE consent_grant SET deletion_requested_at = clock_timestamp()
      WHERE id = ${id} AND user_id = ${userId} AND deletion_requested_at IS NULL
      RETURNING *
    ), told AS (
      INSERT INTO consent_event (id, grant_id, at, kind, scopes, expires_at, data_from)
      SELECT gen_random_uuid(), id, deletion_requested_at, 'deletion_requested', scopes, expires_at, data_from FROM requested
    ), announced AS (${insertDeletionRequested(sql`requested`)})
    SELECT deletion_requested_at AS at FROM requested`;
  if (requested !== undefined) return requested.at;
  const [known] = await select<{ at: Date | null }>(
    pool,
  )`SELECT deletion_requested_at AS at FROM consent_grant WHERE id = ${id} AND user_id = ${userId}`;
  return known?.at ?? null;
}

async function revokeAll(tx: pg.ClientBase, userId: string): Promise<string[]> {
  await lockGrants(tx, userId);
  const ended = await select<{ id: string }>(tx)`
    WITH ended AS (
      UPDATE consent_grant g SET revoked_at = statement_timestamp(), closed_at = coalesce(g.closed_at, statement_timestamp())
      FROM app a
      WHERE a.client_id = g.client_id AND g.user_id = ${userId} AND ${UNREVOKED}
      RETURNING g.*
    ), told AS (${TELL_REVOKED}), notified AS (${insertRevoked('person')})
    SELECT id FROM ended WHERE revoked_at < expires_at`;
  return ended.map((grant) => grant.id);
}
