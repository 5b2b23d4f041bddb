import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { GRANT_FROM, LIVE, SUSPENDED } from './grant-rows.ts';

/** Counts the grants that would be active but are suspended by an unconfirmed restore. */
export function createPgSuspensions(pool: pg.Pool) {
  return translatingErrors({
    async count() {
      const [row] = await select<{ count: number }>(pool)`
        SELECT count(*)::int AS count FROM ${GRANT_FROM}
        WHERE ${SUSPENDED} AND ${LIVE}`;
      return row?.count ?? 0;
    },
  });
}
