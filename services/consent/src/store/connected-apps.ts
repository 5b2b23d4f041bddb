import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { ConnectedApp } from '../domain/grant.ts';

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
        SELECT page.*, shown_app_of(id, client_id, 'infinity') AS app FROM page
      )
      SELECT s.client_id AS "clientId", coalesce(s.app->>'name', a.name) AS name, a.name AS "currentName",
        s.app->>'redirectHost' AS "redirectHost"
      FROM shown s JOIN app a ON a.client_id = s.client_id
      ORDER BY s.granted_at DESC, s.id DESC`,
    select<{ total: number }>(pool)`
      SELECT count(DISTINCT client_id)::int AS total FROM consent_grant WHERE user_id = ${userId}`,
  ]);
  return { items, total: counted[0]?.total ?? 0 };
}
