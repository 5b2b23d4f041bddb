import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { PENDING_APPROVAL_SECONDS } from '@phds/catalog/lifetimes';
import { offsetOf, type Page, toPage } from '@phds/catalog/pagination';
import type { Scope } from '@phds/catalog/scopes';
import {
  type ConsentService,
  type OpenPendingApprovalRequest,
  PendingApprovalSchema,
  PendingStatusSchema,
} from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { findMember, toMessage } from '@phds/service-kit/rpc/rows';
import type { UnaryRpcs } from '@phds/service-kit/rpc/service';
import type pg from 'pg';
import sql, { empty, type Sql } from 'sql-template-tag';
import { type AppAsShown, asShown, type ReportedApp, type ShownApp, takeProfile } from './app-profiles.ts';
import { refuseExtension, refuseFinal } from './decision.ts';
import { JOIN_MARGIN_SECONDS, SUSPENDED } from './grant-rows.ts';
import { parseReportedApp } from './ledger.ts';
import { parseKnownId, parseName, parseScopes, parseText } from './parameters.ts';
import {
  type ConsentRequest,
  lockPending,
  PENDING_COLUMNS,
  PENDING_FROM,
  PENDING_STATUS,
  type PendingStatus,
  readPending,
  type StoredApproval,
} from './pending-approvals.ts';
import { toRevision } from './terms.ts';

interface OpeningRequest extends ConsentRequest {
  readonly app: ReportedApp;
  readonly appEpoch: number;
  /** A keyed hash of the client's network; empty when unknown, and when the app was authenticated. */
  readonly network: string;
}

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly maxLivePerApp: number;
  readonly userOf: UserOf;
}

/**
 * The rpcs about requests for a person's approval, in table `pending_approval`. The first person who reads one claims it. What is unknown,
 * or claimed by another person, is `not_found`.
 */
export function approvalRpcs({ pools: { ordinary: pool }, maxLivePerApp, userOf }: Parts) {
  return {
    /**
     * Even concurrent calls never exceed `maxLivePerApp` undecided, unexpired requests that an app authenticated. Extended and
     * unauthenticated ones do not count; of the unauthenticated ones that are unclaimed, as many are kept: the newest of each network,
     * then the second newest of each, and so on.
     */
    async openPendingApproval(request) {
      const opening = parseOpening(request);
      return transact(pool, (tx) => open(tx, opening, maxLivePerApp));
    },
    async getPendingApproval(request, context) {
      const userId = await userOf(context);
      const id = parseKnownId('apr', request.id);
      const claimed = sql`p.claimed_by = ${userId}`;
      const visible = request.withoutClaiming ? sql`(${claimed} OR p.claimed_by IS NULL)` : claimed;
      if (!request.withoutClaiming)
        await execute(
          pool,
        )`UPDATE pending_approval SET claimed_by = ${userId} WHERE id = ${id} AND claimed_by IS NULL`;
      const [view] = await selectViews(pool, userId, sql`p.id = ${id} AND ${visible}`, empty);
      if (view === undefined) throw notFound();
      return { pendingApproval: toMessage(PendingApprovalSchema, view) };
    },
    async listPendingApprovals(request, context) {
      const userId = await userOf(context);
      const status = findMember<PendingStatus>('status', PendingStatusSchema, request.status);
      const { items, total } = await listApprovals(pool, userId, status, toPage(request.page));
      return { pendingApprovals: items.map((item) => toMessage(PendingApprovalSchema, item)), total };
    },
    async extendPendingApproval(request, context) {
      const userId = await userOf(context);
      const id = parseKnownId('apr', request.id);
      return { expiresAt: timestampFromDate(await transact(pool, (tx) => extend(tx, id, userId))) };
    },
    async releasePendingApproval(request, context) {
      const userId = await userOf(context);
      const id = parseKnownId('apr', request.id);
      await transact(pool, (tx) => release(tx, id, userId));
      return {};
    },
  } satisfies Partial<UnaryRpcs<typeof ConsentService>>;
}

function parseOpening(request: OpenPendingApprovalRequest): OpeningRequest {
  // `apr_` and 128 bits in base62.
  if (!isId('apr', request.id) || request.id.length < 26)
    throw invalidRequest('id', 'must be an apr_ id of 128 bits');
  const purpose = parseText('purpose', request.purpose);
  const scopes = parseScopes('scopes', request.scopes);
  return {
    id: request.id,
    app: parseReportedApp(request.app),
    appEpoch: request.appEpoch,
    redirectHost: parseName('redirectHost', request.redirectHost, 512),
    scopes,
    // Anybody can send a request in an app's name; only the secret proves that these are the app's words.
    purpose: request.clientAuthenticated ? purpose : '',
    clientAuthenticated: request.clientAuthenticated,
    network: request.clientAuthenticated ? '' : parseText('network', request.network),
  };
}

async function extend(tx: pg.ClientBase, id: string, userId: string): Promise<Date> {
  await lockPending(tx, id, userId);
  const { pending } = await readPending(tx, id);
  if (pending.claimedBy === null) throw notFound();
  refuseExtension(pending);
  const [extended] = await select<{ expiresAt: Date }>(tx)`
    UPDATE pending_approval
    SET expires_at = statement_timestamp() + make_interval(secs => ${PENDING_APPROVAL_SECONDS}::int), extensions = extensions + 1
    WHERE id = ${id} RETURNING expires_at AS "expiresAt"`;
  if (extended === undefined) throw notFound();
  return extended.expiresAt;
}

async function release(tx: pg.ClientBase, id: string, userId: string): Promise<void> {
  await lockPending(tx, id, userId);
  const { pending } = await readPending(tx, id);
  refuseFinal(pending);
  await execute(tx)`UPDATE pending_approval SET claimed_by = NULL WHERE id = ${id}`;
}

/** Those claimed by the user, and unclaimed ones of the user's apps. */
export async function listApprovals(pool: pg.Pool, userId: string, status: PendingStatus | null, page: Page) {
  const own = sql`(p.claimed_by = ${userId} OR (p.claimed_by IS NULL
    AND p.client_id IN (SELECT client_id FROM app WHERE owner_id = ${userId})))`;
  const where = status === null ? own : sql`${own} AND ${PENDING_STATUS} = ${status}`;
  const paging = sql`ORDER BY p.created_at DESC, p.id DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`;
  const [items, counted] = await Promise.all([
    selectViews(pool, userId, where, paging),
    select<{ total: number }>(pool)`SELECT count(*)::int AS total FROM ${PENDING_FROM} WHERE ${where}`,
  ]);
  return { items, total: counted[0]?.total ?? 0 };
}

/** Maximum number removed by one opening; more exist only after the limit was lowered. */
const MAX_REMOVED = 100;

/** Locks the app's row, so that openings and status changes of one app happen in sequence. */
async function open(tx: pg.ClientBase, request: OpeningRequest, maxLive: number) {
  const { clientId } = request.app;
  const [app] = await select<{ status: string; epoch: number }>(tx)`
    SELECT status, epoch FROM app WHERE client_id = ${clientId} FOR NO KEY UPDATE`;
  if (app?.status !== 'active' || app.epoch !== request.appEpoch) {
    throw new AppError('app_not_active', 'The app is not active.');
  }
  const [known] = await select<{ clientId: string; expiresAt: Date }>(
    tx,
  )`SELECT client_id AS "clientId", expires_at AS "expiresAt" FROM pending_approval WHERE id = ${request.id}`;
  if (known !== undefined && known.clientId !== clientId) throw idTaken();
  if (known !== undefined) return { expiresAt: timestampFromDate(known.expiresAt), removedIds: [] };
  if (request.clientAuthenticated) await refuseTooMany(tx, request, maxLive);
  // Also repairs a profile whose own report was lost.
  const shownApp = { ...(await takeProfile(tx, request.app)), redirectHost: request.redirectHost };
  const number = request.clientAuthenticated ? null : await countAnonymous(tx, clientId);
  const expiresAt = await insert(tx, { ...request, shownApp }, number);
  const removedIds = number === null ? [] : await removeAnonymous(tx, clientId, maxLive);
  return { expiresAt: timestampFromDate(expiresAt), removedIds };
}

function idTaken(): AppError {
  return new AppError('conflict', 'The id belongs to another request.');
}

/**
 * Throws `rate_limited` until the app may open another one with its secret. Extended ones do not count: otherwise a person could keep
 * the app from opening more for hours.
 */
async function refuseTooMany(
  tx: pg.ClientBase,
  { app: { clientId }, appEpoch }: OpeningRequest,
  maxLive: number,
): Promise<void> {
  const [live] = await select<{ count: number; wait: number | null }>(tx)`
    SELECT count(*)::int AS count, ceil(extract(epoch FROM min(expires_at) - statement_timestamp()))::int AS wait
    FROM pending_approval
    WHERE client_id = ${clientId} AND expires_at > statement_timestamp() AND decision IS NULL
      AND client_authenticated AND app_epoch = ${appEpoch} AND extensions = 0`;
  if (live === undefined || live.count < maxLive) return;
  throw new AppError('rate_limited', 'Too many requests of this app wait for a decision.', {
    retryAfterSeconds: Math.max(1, live.wait ?? 1),
  });
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
): Promise<Date> {
  const [opened] = await select<{ expiresAt: Date }>(tx)`
    INSERT INTO pending_approval (id, client_id, app_epoch, redirect_host, scopes, purpose, client_authenticated,
      anonymous_number, network, shown_app, created_at, expires_at)
    VALUES (${request.id}, ${request.app.clientId}, ${request.appEpoch}, ${request.redirectHost},
      ${request.scopes}::text[], ${request.purpose}, ${request.clientAuthenticated}, ${anonymousNumber}::bigint,
      ${request.network}, ${JSON.stringify(request.shownApp)}::jsonb, statement_timestamp(), statement_timestamp() + make_interval(secs => ${PENDING_APPROVAL_SECONDS}::int))
    ON CONFLICT (id) DO NOTHING
    RETURNING expires_at AS "expiresAt"`;
  if (opened === undefined) throw idTaken();
  return opened.expiresAt;
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

/** The live grant that an approval would join; its fields are null when there is none. */
interface ViewRow extends StoredApproval {
  readonly app: AppAsShown;
  readonly liveGrantId: string | null;
  readonly liveScopes: Scope[];
  readonly liveExpiresAt: Date;
  readonly liveDataFrom: string | null;
  readonly liveAppName: string;
}

/** As shown to the person. */
async function selectViews(pool: pg.Pool, userId: string, where: Sql, paging: Sql) {
  const rows = await select<ViewRow>(pool)`
    SELECT ${PENDING_COLUMNS}, ${asShown(sql`p.shown_app`)} AS app,
      g.id AS "liveGrantId", g.scopes AS "liveScopes", g.expires_at AS "liveExpiresAt",
      to_char(g.data_from, 'YYYY-MM-DD') AS "liveDataFrom", shown_app_of(g.id, 'infinity')->>'name' AS "liveAppName"
    FROM ${PENDING_FROM}
    LEFT JOIN consent_grant g ON g.user_id = ${userId} AND g.client_id = p.client_id AND g.closed_at IS NULL
      AND g.app_epoch = a.epoch AND NOT ${SUSPENDED}
      AND g.expires_at > statement_timestamp() + make_interval(secs => ${JOIN_MARGIN_SECONDS}::int)
    WHERE ${where} ${paging}`;
  return rows.map((row) => {
    const connection = toConnection(row);
    return {
      ...row,
      requestedScopes: row.scopes.map((scope) => {
        return { scope, alreadyShared: connection?.scopes.includes(scope) ?? false };
      }),
      approved: toApprovedTerms(row),
      revision: toRevision(connection),
      connection,
    };
  });
}

function toConnection(row: ViewRow) {
  const { liveGrantId: grantId, liveScopes: scopes, liveExpiresAt: expiresAt, liveDataFrom: dataFrom } = row;
  return grantId === null ? null : { grantId, appName: row.liveAppName, scopes, expiresAt, dataFrom };
}

function toApprovedTerms({ status, approvedScopes: scopes, approvedDays, approvedDataFrom }: ViewRow) {
  if (status !== 'approved') return null;
  const keepExpiry = approvedDays === null;
  return { scopes, expiresInDays: approvedDays, dataFrom: approvedDataFrom, keepExpiry };
}
