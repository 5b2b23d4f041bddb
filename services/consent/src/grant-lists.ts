import { type Listed, LONGEST_LIST, offsetOf, type Page } from '@phds/catalog/pagination';
import type { ConnectedApp as ConnectedAppMessage } from '@phds/contracts/phds/consent/v1/consent_pb';
import { invalidRequest, notFound } from '@phds/service-kit/errors';
import { queryCount, queryRows, readStatement, type Statement } from '@phds/service-kit/postgres/sql';
import type { Row } from '@phds/service-kit/rpc/messages';
import type pg from 'pg';
import { asShown, findVersions, listChanges, type ShownApp, toLatestChanges } from './app-profiles.ts';
import {
  findGrant,
  findSubHash,
  type Grant,
  type GrantRow,
  type GrantStatus,
  toGrant,
} from './grant-rows.ts';

// Grants, in table `consent_grant`. What is unknown, or another person's or app's, is `not_found`.

export function found<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw notFound();
  return value;
}

const LIST = readStatement(new URL('store/sql/list-grants.sql', import.meta.url));
const COUNT = readStatement(new URL('store/sql/count-grants.sql', import.meta.url));
const FIND_VIEW = readStatement(new URL('store/sql/find-grant-view.sql', import.meta.url));
const COUNT_ACCESSES = readStatement(new URL('store/sql/count-grant-accesses.sql', import.meta.url));
const LIST_OF_APP = readStatement(new URL('store/sql/list-grants-of-app.sql', import.meta.url));
const COUNT_OF_APP = readStatement(new URL('store/sql/count-grants-of-app.sql', import.meta.url));
const LIST_APPS = readStatement(new URL('store/sql/list-connected-apps.sql', import.meta.url));
const COUNT_APPS = readStatement(new URL('store/sql/count-connected-apps.sql', import.meta.url));

/** Size and offset of a page of grants, none of which is further from the newest than LONGEST_LIST. */
function toLimits(page: Page): [limit: number, offset: number] {
  const offset = Math.min(offsetOf(page), LONGEST_LIST);
  return [Math.min(page.pageSize, LONGEST_LIST - offset), offset];
}

/** The person's grants, newest first. Counted up to LONGEST_LIST. */
export async function listGrants(
  pool: pg.Pool,
  userId: string,
  status: GrantStatus | null,
  page: Page,
): Promise<Listed<GrantView>> {
  const [views, total] = await Promise.all([
    selectViews(pool, LIST, userId, status, ...toLimits(page)),
    queryCount(pool, COUNT, userId, status, LONGEST_LIST),
  ]);
  return { items: views.map(shortenChanges), total };
}

/** One grant of the person, or of anybody. */
export async function getGrant(pool: pg.Pool, id: string, userId?: string): Promise<GrantView> {
  const [view] = await selectViews(pool, FIND_VIEW, id, userId ?? null);
  return found(view);
}

/** Limits the changes, so that a page of grants fits into one message: all changes of twenty versions can have 70 KB. */
function shortenChanges(view: GrantView): GrantView {
  return { ...view, appChanges: view.status === 'active' ? toLatestChanges(view.appChanges) : [] };
}

interface ViewRow extends GrantRow {
  readonly userRef: string;
  readonly ownerId: string;
  /** As shown at the latest approval, like the purpose. */
  readonly shownApp: ShownApp;
  readonly purpose: string;
  readonly currentAppName: string;
  readonly appSuspended: boolean;
}

type GrantView = Awaited<ReturnType<typeof selectViews>>[number];

/** Grants as their person sees them. */
async function selectViews(pool: pg.Pool, statement: Statement, ...values: unknown[]) {
  const rows = await queryRows<ViewRow>(pool, statement, ...values);
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
      app: asShown(row),
      revokedBy: toRevokedBy(grant),
      redirectHost: row.shownApp.redirectHost,
      // All since that approval, oldest first.
      appChanges: listChanges(row.shownApp, versions.get(row.clientId) ?? []),
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

/** Counts of released responses of grants, and the last one. All grants are of one person. */
function selectAccessCounts(
  pool: pg.Pool,
  grants: readonly Pick<ViewRow, 'id' | 'userRef'>[],
): Promise<AccessCount[]> {
  const grantIds = grants.map(({ id }) => id);
  return queryRows<AccessCount>(pool, COUNT_ACCESSES, grants[0]?.userRef, grantIds);
}

/** Which grants of an app are listed; null for all. */
interface AppGrantFilter {
  readonly status: GrantStatus | null;
  /** Of one person. Anything that is no `sub` of the app is found in no grant. */
  readonly sub: string | null;
  /** Only those that come after the grant with this id in the list. */
  readonly before: string | null;
  /** Only those whose person asked for deletion. */
  readonly deletionRequested: boolean;
}

/** The grants of an app, newest first. Counted up to LONGEST_LIST. */
export async function listGrantsOfApp(
  pool: pg.Pool,
  clientId: string,
  filter: AppGrantFilter,
  page: Page,
): Promise<Listed<Grant>> {
  const before = filter.before === null ? null : await findGrant(pool, filter.before, { clientId });
  if (filter.before !== null && before === null)
    throw invalidRequest('before', 'must be the id of a grant of this app');
  const { status, sub, deletionRequested } = filter;
  const place = [before?.grantedAt ?? null, before?.id ?? null];
  const which = [clientId, status, sub === null ? null : toHash(sub), ...place, deletionRequested];
  const [rows, total] = await Promise.all([
    queryRows<GrantRow>(pool, LIST_OF_APP, ...which, ...toLimits(page)),
    queryCount(pool, COUNT_OF_APP, ...which, LONGEST_LIST),
  ]);
  return { items: rows.map(toGrant), total };
}

/** A text that is no `sub` has a hash that no grant has. */
function toHash(sub: string): Uint8Array {
  return findSubHash(sub) ?? Buffer.alloc(0);
}

/** An app that has or had a grant of a person, as shown at the latest approval, with its present name. */
type ConnectedApp = Row<ConnectedAppMessage>;

/** The app with the latest grant first. */
export async function listConnectedApps(
  pool: pg.Pool,
  userId: string,
  page: Page,
): Promise<Listed<ConnectedApp>> {
  const [items, total] = await Promise.all([
    queryRows<ConnectedApp>(pool, LIST_APPS, userId, page.pageSize, offsetOf(page)),
    queryCount(pool, COUNT_APPS, userId),
  ]);
  return { items, total };
}
