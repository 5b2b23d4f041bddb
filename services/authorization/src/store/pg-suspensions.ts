import { offsetOf } from '@phds/catalog/pagination';
import { inTransaction } from '@phds/service-kit/postgres/postgres';
import type { Suspensions } from '@phds/service-kit/restore/service';
import type pg from 'pg';

type Item = Awaited<ReturnType<Suspensions['list']>>['items'][number];

/** Active apps whose secret or keys an unconfirmed restore suspends: all, or $1. They belong to no person ($2). */
const APPS = `app JOIN suspension s ON (app.secret_hash IS NOT NULL AND app.secret_restore_number < s.below)
    OR ((app.jwks <> '' OR app.jwks_uri <> '') AND app.keys_restore_number < s.below)
  WHERE app.status = 'active'
    AND ($1::text IS NULL OR app.client_id = $1) AND $2::text IS NULL`;

const COUNT = `SELECT count(*)::int AS count FROM ${APPS}`;

const LIST = `
  SELECT app.client_id AS "clientId", app.profile->>'name' AS "appName", '' AS "grantId", '' AS "userId",
    CASE WHEN app.secret_hash IS NULL THEN app.updated_at ELSE app.secret_rotated_at END AS "madeAt"
  FROM ${APPS} ORDER BY app.client_id LIMIT $3 OFFSET $4`;

// Values: $1 the app or null, $2 the person or null, $3 the number of the restore, which has to be the one that suspends.
const OPEN = 'suspension s WHERE s.identified AND s.below = $3::int';
const isOf = (row: string) =>
  `($1::text IS NULL OR ${row}.client_id = $1) AND ($2::text IS NULL OR ${row}.user_id = $2)`;

const CONFIRMATIONS = [
  `UPDATE authorization_code c SET restore_number = $3 FROM ${OPEN} AND c.restore_number < s.below AND ${isOf('c')}`,
  `UPDATE token_family f SET restore_number = $3 FROM ${OPEN} AND f.restore_number < s.below AND ${isOf('f')}`,
  `UPDATE access_token t SET restore_number = $3 FROM ${OPEN} AND t.restore_number < s.below AND ${isOf('t')}`,
  `UPDATE app SET secret_restore_number = greatest(secret_restore_number, $3),
     keys_restore_number = greatest(keys_restore_number, $3)
   FROM ${OPEN} AND least(secret_restore_number, keys_restore_number) < s.below
     AND app.client_id = $1 AND $2::text IS NULL`,
];

/** What an unconfirmed restore suspends. Apps are listed; codes and tokens are confirmed with their app or person. */
export function createPgSuspensions(pool: pg.Pool): Suspensions {
  const count = async (values: readonly (string | null)[]) => {
    const { rows } = await pool.query<{ count: number }>(COUNT, [...values]);
    return rows[0]?.count ?? 0;
  };
  return {
    count: () => count([null, null]),
    async list({ clientId, userId }, page) {
      const [{ rows: items }, total] = await Promise.all([
        pool.query<Item>(LIST, [clientId, userId, page.pageSize, offsetOf(page)]),
        count([clientId, userId]),
      ]);
      return { items, total };
    },
    confirm: (number, { clientId, userId }) =>
      inTransaction(pool, async (client) => {
        let confirmed = 0;
        for (const text of CONFIRMATIONS) {
          confirmed += (await client.query(text, [clientId, userId, number])).rowCount ?? 0;
        }
        return confirmed;
      }),
  };
}
