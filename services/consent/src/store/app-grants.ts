import type { Listed, Page } from '@phds/catalog/pagination';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { join, type Sql } from 'sql-template-tag';
import type { AppGrantFilter } from '../app/ports.ts';
import type { Grant } from '../domain/grant.ts';
import { countGrants, newestFirst } from './grant-pages.ts';
import { GRANT_COLUMNS, GRANT_FROM, GRANT_STATUS, type GrantRow, toGrant } from './grant-rows.ts';
import { findSubHash } from './subs.ts';

/** The grants of an app, newest first. Index: consent_grant_client_id_granted_at_id_idx. */
export async function listGrantsOfApp(
  pool: pg.Pool,
  clientId: string,
  filter: AppGrantFilter<Grant>,
  page: Page,
): Promise<Listed<Grant>> {
  const [rows, total] = await Promise.all([
    select<GrantRow>(pool)`${selectGrantsOfApp(clientId, filter, page)}`,
    countGrants(pool, toCondition(clientId, filter)),
  ]);
  return { items: rows.map(toGrant), total };
}

export function selectGrantsOfApp(clientId: string, filter: AppGrantFilter<Grant>, page: Page): Sql {
  return sql`SELECT ${GRANT_COLUMNS} FROM ${GRANT_FROM}
    WHERE ${toCondition(clientId, filter)} ${newestFirst(page)}`;
}

export async function findGrantOfApp(pool: pg.Pool, id: string, clientId: string): Promise<Grant | null> {
  const [row] = await select<GrantRow>(pool)`
    SELECT ${GRANT_COLUMNS} FROM ${GRANT_FROM}
    WHERE g.id = ${id} AND g.client_id = ${clientId}`;
  return row === undefined ? null : toGrant(row);
}

function toCondition(clientId: string, { status, sub, before }: AppGrantFilter<Grant>): Sql {
  const conditions = [sql`g.client_id = ${clientId}`];
  if (status !== null) conditions.push(sql`${GRANT_STATUS} = ${status}`);
  // Index: consent_grant_sub_idx. Compared with NULL, a text that is no `sub` finds nothing.
  if (sub !== null) conditions.push(sql`sub_hash(g.user_ref, g.client_id) = ${findSubHash(sub)}::bytea`);
  if (before !== null) conditions.push(sql`(g.granted_at, g.id) < (${before.grantedAt}, ${before.id})`);
  return join(conditions, ' AND ');
}
