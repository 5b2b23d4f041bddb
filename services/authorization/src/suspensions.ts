import { offsetOf } from '@phds/catalog/pagination';
import { inTransaction } from '@phds/service-kit/postgres/postgres';
import { queryCount, queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type { Suspensions } from '@phds/service-kit/restore/service';
import type pg from 'pg';

type Item = Awaited<ReturnType<Suspensions['list']>>['items'][number];

const COUNT = readStatement(new URL('store/sql/count-suspended-apps.sql', import.meta.url));
const LIST = readStatement(new URL('store/sql/list-suspended-apps.sql', import.meta.url));
/** A statement for each table, because many rows may take most of the time that a statement has. */
const CONFIRMATIONS = [
  'store/sql/confirm-codes.sql',
  'store/sql/confirm-families.sql',
  'store/sql/confirm-tokens.sql',
  'store/sql/confirm-app.sql',
].map((file) => readStatement(new URL(file, import.meta.url)));

/** What an unconfirmed restore suspends. Apps are listed; codes and tokens are confirmed with their app or person. */
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
    confirm: (number, { clientId, userId }) =>
      inTransaction(pool, async (client) => {
        let confirmed = 0;
        for (const statement of CONFIRMATIONS) {
          confirmed += await runStatement(client, statement, clientId, userId, number);
        }
        return confirmed;
      }),
  };
}
