import { type Listed, LONGEST_LIST, offsetOf, type Page } from '@phds/catalog/pagination';
import type { ConnectedApp as ConnectedAppMessage } from '@phds/contracts/phds/consent/v1/consent_pb';
import { select } from '@phds/service-kit/postgres/sql';
import type { Row } from '@phds/service-kit/rpc/rows';
import type pg from 'pg';
import sql, { join, type Sql } from 'sql-template-tag';
import {
  findSubHash,
  GRANT_FROM,
  GRANT_STATUS,
  type Grant,
  type GrantStatus,
  selectGrants,
} from './grant-rows.ts';

/** An app that has or had a grant of a person, as shown at the latest approval, with its present name. */
type ConnectedApp = Row<ConnectedAppMessage>;

/** Which grants of an app are listed; null for all. `Place` names a grant. */
export interface AppGrantFilter<Place> {
  readonly status: GrantStatus | null;
  /** Of one person. Anything that is no `sub` of the app is found in no grant. */
  readonly sub: string | null;
  /** Only those that come after this one in the list. */
  readonly before: Place | null;
  /** Only those whose person asked for deletion. */
  readonly deletionRequested: boolean;
}

/** Order and limits of a page of grants `g`, none of which is further from the newest than LONGEST_LIST. */
export function newestFirst(page: Page): Sql {
  const offset = Math.min(offsetOf(page), LONGEST_LIST);
  const limit = Math.min(page.pageSize, LONGEST_LIST - offset);
  return sql`ORDER BY g.granted_at DESC, g.id DESC LIMIT ${limit} OFFSET ${offset}`;
}

/** Counts up to LONGEST_LIST. */
export async function countGrants(pool: pg.Pool, where: Sql): Promise<number> {
  const [counted] = await select<{ total: number }>(pool)`
    SELECT count(*)::int AS total FROM (
      SELECT FROM ${GRANT_FROM} WHERE ${where} LIMIT ${LONGEST_LIST}) counted`;
  return counted?.total ?? 0;
}

/** The grants of an app, newest first. Index: consent_grant_client_id_granted_at_id_idx. */
export async function listGrantsOfApp(
  pool: pg.Pool,
  clientId: string,
  filter: AppGrantFilter<Grant>,
  page: Page,
): Promise<Listed<Grant>> {
  const [items, total] = await Promise.all([
    selectGrants(pool, pageOfApp(clientId, filter, page)),
    countGrants(pool, toCondition(clientId, filter)),
  ]);
  return { items, total };
}

export function pageOfApp(clientId: string, filter: AppGrantFilter<Grant>, page: Page): Sql {
  return sql`${toCondition(clientId, filter)} ${newestFirst(page)}`;
}

export async function findGrantOfApp(pool: pg.Pool, id: string, clientId: string): Promise<Grant | null> {
  const [grant] = await selectGrants(pool, sql`g.id = ${id} AND g.client_id = ${clientId}`);
  return grant ?? null;
}

function toCondition(
  clientId: string,
  { status, sub, before, deletionRequested }: AppGrantFilter<Grant>,
): Sql {
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

/** What is shown of the apps is looked up only for the page. */
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
      SELECT s.client_id AS "clientId", s.app->>'name' AS name, a.name AS "currentName",
        s.app->>'redirectHost' AS "redirectHost", s.app->>'developerName' AS "developerName"
      FROM shown s JOIN app a ON a.client_id = s.client_id
      ORDER BY s.granted_at DESC, s.id DESC`,
    select<{ total: number }>(pool)`
      SELECT count(DISTINCT client_id)::int AS total FROM consent_grant WHERE user_id = ${userId}`,
  ]);
  return { items, total: counted[0]?.total ?? 0 };
}
