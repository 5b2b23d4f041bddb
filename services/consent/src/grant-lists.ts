import { type Listed, LONGEST_LIST, offsetOf, type Page } from '@phds/catalog/pagination';
import type { ConnectedApp as ConnectedAppMessage } from '@phds/contracts/phds/consent/v1/consent_pb';
import { invalidRequest, notFound } from '@phds/service-kit/errors';
import { select } from '@phds/service-kit/postgres/sql';
import type { Row } from '@phds/service-kit/rpc/rows';
import type pg from 'pg';
import sql, { join, type Sql } from 'sql-template-tag';
import { accessCounts } from './access/counts-sql.ts';
import { type AppAsShown, asShown, findVersions, listChanges, toLatestChanges } from './app-profiles.ts';
import {
  findGrant,
  findSubHash,
  GRANT_COLUMNS,
  GRANT_FROM,
  GRANT_STATUS,
  type Grant,
  type GrantRow,
  type GrantStatus,
  selectGrants,
  toGrant,
} from './grant-rows.ts';

// Grants, in table `consent_grant`. What is unknown, or another person's or app's, is `not_found`.

export function found<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw notFound();
  return value;
}

/** Order and limits of a page of grants `g`, none of which is further from the newest than LONGEST_LIST. */
function newestFirst(page: Page): Sql {
  const offset = Math.min(offsetOf(page), LONGEST_LIST);
  const limit = Math.min(page.pageSize, LONGEST_LIST - offset);
  return sql`ORDER BY g.granted_at DESC, g.id DESC LIMIT ${limit} OFFSET ${offset}`;
}

/** Counts up to LONGEST_LIST. */
async function countGrants(pool: pg.Pool, where: Sql): Promise<number> {
  const [counted] = await select<{ total: number }>(pool)`
    SELECT count(*)::int AS total FROM (
      SELECT FROM ${GRANT_FROM} WHERE ${where} LIMIT ${LONGEST_LIST}) counted`;
  return counted?.total ?? 0;
}

/** The person's grants, newest first. */
export async function listGrants(
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

/** One grant of the person, or of anybody. */
export async function getGrant(pool: pg.Pool, id: string, userId?: string): Promise<GrantView> {
  const owner = userId === undefined ? sql`true` : sql`g.user_id = ${userId}`;
  const [view] = await selectViews(pool, sql`g.id = ${id} AND ${owner}`);
  return found(view);
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
    SELECT ${GRANT_COLUMNS}, ${asShown(sql`shown_app_of(g.id, 'infinity')`)} AS app, a.profile->>'name' AS "currentAppName",
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

/** The filter with the place of the grant that is listed before. */
type AppGrantPlace = Omit<AppGrantFilter, 'before'> & {
  readonly before: Pick<Grant, 'id' | 'grantedAt'> | null;
};

/** The grants of an app, newest first. Index: consent_grant_client_id_granted_at_id_idx. */
export async function listGrantsOfApp(
  pool: pg.Pool,
  clientId: string,
  filter: AppGrantFilter,
  page: Page,
): Promise<Listed<Grant>> {
  const before = filter.before === null ? null : await findGrant(pool, filter.before, { clientId });
  if (filter.before !== null && before === null)
    throw invalidRequest('before', 'must be the id of a grant of this app');
  const place = { ...filter, before };
  const [items, total] = await Promise.all([
    selectGrants(pool, pageOfApp(clientId, place, page)),
    countGrants(pool, toCondition(clientId, place)),
  ]);
  return { items, total };
}

export function pageOfApp(clientId: string, filter: AppGrantPlace, page: Page): Sql {
  return sql`${toCondition(clientId, filter)} ${newestFirst(page)}`;
}

function toCondition(clientId: string, { status, sub, before, deletionRequested }: AppGrantPlace): Sql {
  const conditions = [sql`g.client_id = ${clientId}`];
  if (status !== null) conditions.push(sql`${GRANT_STATUS} = ${status}`);
  // Index: consent_grant_sub_idx. Compared with NULL, a text that is no `sub` finds nothing.
  if (sub !== null) conditions.push(sql`sub_hash(g.user_ref, g.client_id) = ${findSubHash(sub)}::bytea`);
  if (before !== null) conditions.push(sql`(g.granted_at, g.id) < (${before.grantedAt}, ${before.id})`);
  if (deletionRequested) conditions.push(sql`g.deletion_requested_at IS NOT NULL`);
  return join(conditions, ' AND ');
}

/** The latest grant of each app of a person. Reads the person's grants by their index. */
export const latestGrants = (userId: string) => sql`
  SELECT DISTINCT ON (client_id) id, client_id, granted_at FROM consent_grant
  WHERE user_id = ${userId} ORDER BY client_id, granted_at DESC, id DESC`;

/** An app that has or had a grant of a person, as shown at the latest approval, with its present name. */
type ConnectedApp = Row<ConnectedAppMessage>;

/** The app with the latest grant first. What is shown of the apps is looked up only for the page. */
export async function listConnectedApps(
  pool: pg.Pool,
  userId: string,
  page: Page,
): Promise<Listed<ConnectedApp>> {
  const [items, counted] = await Promise.all([
    select<ConnectedApp>(pool)`
      WITH page AS MATERIALIZED (
        SELECT * FROM (${latestGrants(userId)}) latest
        ORDER BY granted_at DESC, id DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}
      ), shown AS MATERIALIZED (
        SELECT page.*, shown_app_of(id, 'infinity') AS app FROM page
      )
      SELECT s.client_id AS "clientId", s.app->>'name' AS name, a.profile->>'name' AS "currentName",
        s.app->>'redirectHost' AS "redirectHost", s.app->>'developerName' AS "developerName"
      FROM shown s JOIN app a ON a.client_id = s.client_id
      ORDER BY s.granted_at DESC, s.id DESC`,
    select<{ total: number }>(pool)`
      SELECT count(DISTINCT client_id)::int AS total FROM consent_grant WHERE user_id = ${userId}`,
  ]);
  return { items, total: counted[0]?.total ?? 0 };
}
