import { LONGEST_LIST, offsetOf, type Page } from '@phds/catalog/pagination';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import { GRANT_FROM } from './grant-rows.ts';

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
