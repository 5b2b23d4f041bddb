import { offsetOf } from '@phds/catalog/pagination';
import { queryCount, queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type { Suspensions } from '@phds/service-kit/restore/service';
import type pg from 'pg';

type Item = Awaited<ReturnType<Suspensions['list']>>['items'][number];

const COUNT = readStatement(new URL('store/sql/count-suspended-grants.sql', import.meta.url));
const LIST = readStatement(new URL('store/sql/list-suspended-grants.sql', import.meta.url));
const CONFIRM = readStatement(new URL('store/sql/confirm-grants.sql', import.meta.url));

/** The grants that would be active but are suspended by an unconfirmed restore. */
export function createSuspensions(pool: pg.Pool): Suspensions {
  return {
    count: () => queryCount(pool, COUNT, null, null),
    async list({ clientId, userId }, page) {
      const [items, total] = await Promise.all([
        queryRows<Item>(pool, LIST, clientId, userId, page.pageSize, offsetOf(page)),
        queryCount(pool, COUNT, clientId, userId),
      ]);
      return { items, total };
    },
    confirm: (number, { clientId, userId }) => runStatement(pool, CONFIRM, clientId, userId, number),
  };
}
