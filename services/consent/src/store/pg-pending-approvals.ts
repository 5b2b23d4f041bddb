import { type Listed, offsetOf } from '@phds/catalog/pagination';
import type { Scope } from '@phds/catalog/scopes';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { empty, type Sql } from 'sql-template-tag';
import type { Opening, OpeningRequest, PendingApprovalStore } from '../app/ports.ts';
import type { Connection, PendingApprovalView } from '../domain/pending-approval.ts';
import type { ShownApp } from '../domain/shown-app.ts';
import { takeProfile } from './app-profiles.ts';
import { APP_COLUMNS, type AppRow, toAppAsShown } from './app-rows.ts';
import { JOIN_MARGIN_SECONDS, SUSPENDED } from './grant-rows.ts';
import { extendClaimed, releaseClaimed } from './pending-claims.ts';
import {
  PENDING_COLUMNS,
  PENDING_FROM,
  PENDING_STATUS,
  type PendingRow,
  toApproval,
} from './pending-rows.ts';

/** With the grant that an approval would join; its fields are null when there is none. */
interface ViewRow extends PendingRow, AppRow {
  readonly liveGrantId: string | null;
  readonly liveScopes: Scope[];
  readonly liveExpiresAt: Date;
  readonly liveDataFrom: string | null;
  readonly liveAppName: string;
}

/** Pending approvals in table `pending_approval`. */
export function createPgPendingApprovals(pool: pg.Pool): PendingApprovalStore {
  return translatingErrors({
    open: (request, limits) => transact(pool, (tx) => open(tx, request, limits)),
    async claim(id, userId) {
      await execute(pool)`
        UPDATE pending_approval p SET claimed_by = ${userId}
        WHERE p.id = ${id} AND p.claimed_by IS NULL`;
      return selectView(pool, userId, sql`p.id = ${id} AND p.claimed_by = ${userId}`);
    },
    find: (id, userId) =>
      selectView(pool, userId, sql`p.id = ${id} AND (p.claimed_by = ${userId} OR p.claimed_by IS NULL)`),
    extend: (id, userId, seconds, refuse) =>
      transact(pool, (tx) => extendClaimed(tx, { id, userId, seconds }, refuse)),
    release: (id, userId, refuse) => transact(pool, (tx) => releaseClaimed(tx, { id, userId }, refuse)),
    async list(userId, status, page) {
      const own = sql`(p.claimed_by = ${userId} OR (p.claimed_by IS NULL
        AND p.client_id IN (SELECT client_id FROM app WHERE owner_id = ${userId})))`;
      const where = status === null ? own : sql`${own} AND ${PENDING_STATUS} = ${status}`;
      const paging = sql`ORDER BY p.created_at DESC, p.id DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`;
      const [items, counted] = await Promise.all([
        selectViews(pool, userId, where, paging),
        select<{ total: number }>(pool)`
          SELECT count(*)::int AS total FROM ${PENDING_FROM} WHERE ${where}`,
      ]);
      return { items, total: counted[0]?.total ?? 0 } satisfies Listed<PendingApprovalView>;
    },
  });
}

/** Maximum number removed by one opening; more exist only after the limit was lowered. */
const MAX_REMOVED = 100;

interface OpeningLimits {
  readonly lifetimeSeconds: number;
  readonly maxLive: number;
}

/** Locks the app's row, so that openings and status changes of one app happen in sequence. */
async function open(tx: pg.ClientBase, request: OpeningRequest, limits: OpeningLimits): Promise<Opening> {
  const { clientId } = request.app;
  const [app] = await select<{ status: string; epoch: number }>(tx)`
    SELECT status, epoch FROM app WHERE client_id = ${clientId} FOR NO KEY UPDATE`;
  if (app?.status !== 'active' || app.epoch !== request.appEpoch) return { kind: 'app_not_active' };
  const [known] = await select<{ clientId: string; expiresAt: Date }>(
    tx,
  )`SELECT client_id AS "clientId", expires_at AS "expiresAt" FROM pending_approval WHERE id = ${request.id}`;
  if (known !== undefined) return toOpening(known, clientId);
  if (request.clientAuthenticated) {
    const retryAfterSeconds = await findWait(tx, request, limits.maxLive);
    if (retryAfterSeconds !== null) return { kind: 'too_many', retryAfterSeconds };
  }
  // Also repairs a profile whose own report was lost.
  const shownApp = { ...(await takeProfile(tx, request.app)), redirectHost: request.redirectHost };
  const number = request.clientAuthenticated ? null : await countAnonymous(tx, clientId);
  const expiresAt = await insert(tx, { ...request, shownApp }, number, limits.lifetimeSeconds);
  if (expiresAt === null) return { kind: 'id_taken' };
  const removedIds = number === null ? [] : await removeAnonymous(tx, clientId, limits.maxLive);
  return { kind: 'opened', expiresAt, removedIds };
}

/**
 * Seconds until the app may open another one with its secret; null if it may now. Extended ones do not count: otherwise a person could
 * keep the app from opening more for hours.
 */
async function findWait(
  tx: pg.ClientBase,
  { app: { clientId }, appEpoch }: OpeningRequest,
  maxLive: number,
): Promise<number | null> {
  const [live] = await select<{ count: number; wait: number | null }>(tx)`
    SELECT count(*)::int AS count, ceil(extract(epoch FROM min(expires_at) - statement_timestamp()))::int AS wait
    FROM pending_approval
    WHERE client_id = ${clientId} AND expires_at > statement_timestamp() AND decision IS NULL
      AND client_authenticated AND app_epoch = ${appEpoch} AND extensions = 0`;
  return live !== undefined && live.count >= maxLive ? Math.max(1, live.wait ?? 1) : null;
}

async function countAnonymous(tx: pg.ClientBase, clientId: string): Promise<string> {
  const [app] = await select<{ number: string }>(tx)`
    UPDATE app SET anonymous_openings = anonymous_openings + 1 WHERE client_id = ${clientId}
    RETURNING anonymous_openings AS number`;
  if (app === undefined) throw new Error(`app ${clientId} is gone although its row is locked`);
  return app.number;
}

async function insert(
  tx: pg.ClientBase,
  request: OpeningRequest & { readonly shownApp: ShownApp },
  anonymousNumber: string | null,
  lifetimeSeconds: number,
): Promise<Date | null> {
  const [opened] = await select<{ expiresAt: Date }>(tx)`
    INSERT INTO pending_approval (id, client_id, app_epoch, redirect_host, scopes, purpose, client_authenticated,
      anonymous_number, network, shown_app, created_at, expires_at)
    VALUES (${request.id}, ${request.app.clientId}, ${request.appEpoch}, ${request.redirectHost},
      ${request.scopes}::text[], ${request.purpose}, ${request.clientAuthenticated}, ${anonymousNumber}::bigint,
      ${request.network}, ${JSON.stringify(request.shownApp)}::jsonb, statement_timestamp(), statement_timestamp() + make_interval(secs => ${lifetimeSeconds}::int))
    ON CONFLICT (id) DO NOTHING
    RETURNING expires_at AS "expiresAt"`;
  return opened?.expiresAt ?? null;
}

/**
 * Removes unclaimed anonymous approvals above a number. The newest of each network is kept first, then the second newest of each, and so on, so
 * that a network loses its newest only when `maxLive` others have one. Those locked by a claim or decision are kept. The keys are arrays,
 * so that Postgres evaluates the subqueries once.
 */
async function removeAnonymous(tx: pg.ClientBase, clientId: string, maxLive: number): Promise<string[]> {
  const removed = await select<{ id: string }>(tx)`
    DELETE FROM pending_approval WHERE id = ANY(ARRAY(
      SELECT id FROM pending_approval WHERE claimed_by IS NULL AND id = ANY(ARRAY(
        SELECT id FROM (
          SELECT id, anonymous_number, expires_at <= statement_timestamp() AS ended,
            row_number() OVER (PARTITION BY network ORDER BY anonymous_number DESC) AS place
          FROM pending_approval
          WHERE client_id = ${clientId} AND claimed_by IS NULL AND anonymous_number IS NOT NULL) unclaimed
        ORDER BY ended, place, anonymous_number DESC OFFSET ${maxLive} LIMIT ${MAX_REMOVED}))
      FOR UPDATE SKIP LOCKED))
    RETURNING id`;
  return removed.map(({ id }) => id);
}

function toOpening(known: { clientId: string; expiresAt: Date }, clientId: string): Opening {
  if (known.clientId !== clientId) return { kind: 'id_taken' };
  return { kind: 'opened', expiresAt: known.expiresAt, removedIds: [] };
}

async function selectView(pool: pg.Pool, userId: string, where: Sql): Promise<PendingApprovalView | null> {
  const [view] = await selectViews(pool, userId, where, empty);
  return view ?? null;
}

async function selectViews(
  pool: pg.Pool,
  userId: string,
  where: Sql,
  paging: Sql,
): Promise<PendingApprovalView[]> {
  const rows = await select<ViewRow>(pool)`
    SELECT ${PENDING_COLUMNS}, ${APP_COLUMNS}, g.id AS "liveGrantId", g.scopes AS "liveScopes",
      g.expires_at AS "liveExpiresAt", to_char(g.data_from, 'YYYY-MM-DD') AS "liveDataFrom",
      shown_app_of(g.id, 'infinity')->>'name' AS "liveAppName"
    FROM ${PENDING_FROM}
    LEFT JOIN consent_grant g ON g.user_id = ${userId} AND g.client_id = p.client_id AND g.closed_at IS NULL
      AND g.app_epoch = a.epoch AND NOT ${SUSPENDED}
      AND g.expires_at > statement_timestamp() + make_interval(secs => ${JOIN_MARGIN_SECONDS}::int)
    WHERE ${where} ${paging}`;
  return rows.map((row) => ({
    id: row.id,
    app: toAppAsShown(row, row.shownApp),
    redirectHost: row.redirectHost,
    scopes: row.scopes,
    purpose: row.purpose,
    clientAuthenticated: row.clientAuthenticated,
    status: row.status,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    connection: toConnection(row),
    approval: toApproval(row),
  }));
}

function toConnection(row: ViewRow): Connection | null {
  const { liveGrantId, liveScopes, liveExpiresAt, liveDataFrom, liveAppName } = row;
  if (liveGrantId === null) return null;
  return {
    grantId: liveGrantId,
    appName: liveAppName,
    scopes: liveScopes,
    expiresAt: liveExpiresAt,
    dataFrom: liveDataFrom,
  };
}
