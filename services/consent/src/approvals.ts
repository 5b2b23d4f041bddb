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
import {
  queryCount,
  queryRows,
  readStatement,
  runStatement,
  type Statement,
  transact,
} from '@phds/service-kit/postgres/sql';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { findMember, toMessage } from '@phds/service-kit/rpc/messages';
import type { UnaryRpcs } from '@phds/service-kit/rpc/service';
import type pg from 'pg';
import { asShown, type ReportedApp, type ShownApp, takeProfile } from './app-profiles.ts';
import { lockApp } from './apps.ts';
import { refuseExtension, refuseFinal } from './decision.ts';
import { found } from './grant-lists.ts';
import { JOIN_MARGIN_SECONDS } from './grant-rows.ts';
import { parseReportedApp } from './ledger.ts';
import { parseKnownId, parseName, parseScopes, parseText } from './parameters.ts';
import {
  type ConsentRequest,
  lockPending,
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

const CLAIM = readStatement(new URL('store/sql/claim-approval.sql', import.meta.url));
const FIND = readStatement(new URL('store/sql/find-approval.sql', import.meta.url));
const LIST = readStatement(new URL('store/sql/list-approvals.sql', import.meta.url));
const COUNT = readStatement(new URL('store/sql/count-approvals.sql', import.meta.url));
const EXTEND = readStatement(new URL('store/sql/extend-approval.sql', import.meta.url));
const RELEASE = readStatement(new URL('store/sql/release-approval.sql', import.meta.url));
const FIND_OPENING = readStatement(new URL('store/sql/find-opening.sql', import.meta.url));
const COUNT_LIVE = readStatement(new URL('store/sql/count-live-approvals.sql', import.meta.url));
const COUNT_ANONYMOUS = readStatement(new URL('store/sql/count-anonymous-opening.sql', import.meta.url));
const INSERT = readStatement(new URL('store/sql/insert-approval.sql', import.meta.url));
const REMOVE_ANONYMOUS = readStatement(new URL('store/sql/remove-anonymous-approvals.sql', import.meta.url));

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
      if (!request.withoutClaiming) await runStatement(pool, CLAIM, id, userId);
      const [view] = await selectViews(pool, FIND, userId, id, request.withoutClaiming);
      return { pendingApproval: toMessage(PendingApprovalSchema, found(view)) };
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
  const [extended] = await queryRows<{ expiresAt: Date }>(tx, EXTEND, id, PENDING_APPROVAL_SECONDS);
  return found(extended).expiresAt;
}

async function release(tx: pg.ClientBase, id: string, userId: string): Promise<void> {
  await lockPending(tx, id, userId);
  const { pending } = await readPending(tx, id);
  refuseFinal(pending);
  await runStatement(tx, RELEASE, id);
}

/** Those claimed by the user, and unclaimed ones of the user's apps. */
async function listApprovals(pool: pg.Pool, userId: string, status: PendingStatus | null, page: Page) {
  const [items, total] = await Promise.all([
    selectViews(pool, LIST, userId, status, page.pageSize, offsetOf(page)),
    countApprovals(pool, userId, status),
  ]);
  return { items, total };
}

export function countApprovals(pool: pg.Pool, userId: string, status: PendingStatus | null): Promise<number> {
  return queryCount(pool, COUNT, userId, status);
}

/** Maximum number removed by one opening; more exist only after the limit was lowered. */
const MAX_REMOVED = 100;

/** Locks the app's row, so that openings and status changes of one app happen in sequence. */
async function open(tx: pg.ClientBase, request: OpeningRequest, maxLive: number) {
  const { clientId } = request.app;
  const app = await lockApp(tx, clientId);
  if (app?.status !== 'active' || app.epoch !== request.appEpoch) {
    throw new AppError('app_not_active', 'The app is not active.');
  }
  const [known] = await queryRows<{ clientId: string; expiresAt: Date }>(tx, FIND_OPENING, request.id);
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
  type Live = { count: number; wait: number | null };
  const [live] = await queryRows<Live>(tx, COUNT_LIVE, clientId, appEpoch);
  if (live === undefined || live.count < maxLive) return;
  throw new AppError('rate_limited', 'Too many requests of this app wait for a decision.', {
    retryAfterSeconds: Math.max(1, live.wait ?? 1),
  });
}

async function countAnonymous(tx: pg.ClientBase, clientId: string): Promise<string> {
  const [app] = await queryRows<{ number: string }>(tx, COUNT_ANONYMOUS, clientId);
  if (app === undefined) throw new Error(`app ${clientId} is gone although its row is locked`);
  return app.number;
}

async function insert(
  tx: pg.ClientBase,
  request: OpeningRequest & { readonly shownApp: ShownApp },
  anonymousNumber: string | null,
): Promise<Date> {
  const { id, app, appEpoch, redirectHost, scopes, purpose, clientAuthenticated, network, shownApp } =
    request;
  const about = [id, app.clientId, appEpoch, redirectHost, scopes, purpose, clientAuthenticated];
  const values = [...about, anonymousNumber, network, shownApp, PENDING_APPROVAL_SECONDS];
  const [opened] = await queryRows<{ expiresAt: Date }>(tx, INSERT, ...values);
  if (opened === undefined) throw idTaken();
  return opened.expiresAt;
}

/** Removes unclaimed anonymous approvals above a number, and returns their ids. */
async function removeAnonymous(tx: pg.ClientBase, clientId: string, maxLive: number): Promise<string[]> {
  const removed = await queryRows<{ id: string }>(tx, REMOVE_ANONYMOUS, clientId, maxLive, MAX_REMOVED);
  return removed.map(({ id }) => id);
}

/** The live grant that an approval would join; its fields are null when there is none. */
interface ViewRow extends StoredApproval {
  readonly ownerId: string;
  readonly liveGrantId: string | null;
  readonly liveScopes: Scope[];
  readonly liveExpiresAt: Date;
  readonly liveDataFrom: string | null;
  readonly liveAppName: string;
}

/** As shown to the person, by a statement that takes further values. */
async function selectViews(pool: pg.Pool, statement: Statement, userId: string, ...values: unknown[]) {
  const rows = await queryRows<ViewRow>(pool, statement, userId, JOIN_MARGIN_SECONDS, ...values);
  return rows.map((row) => {
    const connection = toConnection(row);
    return {
      ...row,
      app: asShown(row),
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
