import { offsetOf } from '@phds/catalog/pagination';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type { Part, Suspensions } from '@phds/service-kit/restore/service';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import { GRANT_FROM, LIVE, SUSPENDED } from './grant-rows.ts';

type Item = Awaited<ReturnType<Suspensions['list']>>['items'][number];

/** The grants that would be active but are suspended by an unconfirmed restore. */
export function createSuspensions(pool: pg.Pool): Suspensions {
  const count = async (where: Sql) => {
    const [row] = await select<{ count: number }>(pool)`
      SELECT count(*)::int AS count FROM ${GRANT_FROM} WHERE ${SUSPENDED} AND ${LIVE} AND ${where}`;
    return row?.count ?? 0;
  };
  return {
    count: () => count(sql`true`),
    async list(part, page) {
      const [items, total] = await Promise.all([
        select<Item>(pool)`
          SELECT g.client_id AS "clientId", a.profile->>'name' AS "appName", g.id AS "grantId", g.user_id AS "userId", g.granted_at AS "madeAt"
          FROM ${GRANT_FROM} WHERE ${SUSPENDED} AND ${LIVE} AND ${isOf(part)}
          ORDER BY g.granted_at DESC, g.id LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`,
        count(isOf(part)),
      ]);
      return { items, total };
    },
    confirm: (number, part) => execute(pool)`
      UPDATE consent_grant g SET restore_number = ${number}::int FROM consent_audit.suspension s
      WHERE s.identified AND s.below = ${number}::int AND g.restore_number < s.below AND ${isOf(part)}`,
  };
}

function isOf({ clientId, userId }: Part): Sql {
  return sql`(${clientId}::text IS NULL OR g.client_id = ${clientId}) AND (${userId}::text IS NULL OR g.user_id = ${userId})`;
}
