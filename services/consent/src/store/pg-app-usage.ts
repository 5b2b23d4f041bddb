import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import type { AppUsageStore, DayRange } from '../app/access-ports.ts';
import type { AppUsage, RefusalCount } from '../domain/access.ts';
import { appCounts, within } from './access-counts-sql.ts';

const COUNT_MAX = 0x7fff_ffff;

/** The usage of apps: counts of access records, and of refusals reported by gateways. */
export function createPgAppUsage(pool: pg.Pool): AppUsageStore {
  return translatingErrors({
    async usage(clientId, ownerId, range) {
      const owned = await execute(
        pool,
      )`SELECT FROM app WHERE client_id = ${clientId} AND owner_id = ${ownerId}`;
      return owned === 0 ? null : select<AppUsage>(pool)`${selectUsage(clientId, range)}`;
    },
    async addRefusals(refusals) {
      await addRefusals(pool, refusals);
    },
    async addUpNext() {
      const [row] = await select<{ found: boolean }>(pool)`SELECT add_up_app_day() AS found`;
      return row?.found ?? false;
    },
  });
}

/**
 * A refusal after recording is in both the records and the gateways' counts, so the larger number is used: gateways count every
 * refusal, but report seconds later, and a gateway that crashes loses its counts.
 */
export function selectUsage(clientId: string, range: DayRange | null): Sql {
  return sql`
    SELECT to_char(c.day, 'YYYY-MM-DD') AS date, c.endpoint, sum(c.released)::int AS released,
      greatest(sum(c.refused), sum(c.count))::int AS refused,
      coalesce(jsonb_agg(jsonb_build_object('status', c.status, 'count', c.count) ORDER BY c.status)
        FILTER (WHERE c.status IS NOT NULL), '[]') AS refusals
    FROM (
      SELECT day, endpoint, recorded - refused AS released, refused, NULL::int AS status, 0 AS count
      FROM ${appCounts(clientId)} r
      UNION ALL
      SELECT day, endpoint, 0, 0, status, count FROM refused_request WHERE client_id = ${clientId}
    ) c
    WHERE ${within(range)} GROUP BY c.day, c.endpoint ORDER BY c.day DESC, c.endpoint`;
}

/** In key order, so that concurrent gateways do not deadlock. */
async function addRefusals(pool: pg.Pool, refusals: readonly RefusalCount[]): Promise<void> {
  await execute(pool)`
    INSERT INTO refused_request AS r (client_id, day, endpoint, status, count)
    SELECT n.client_id, n.day, n.endpoint, n.status, least(sum(n.count), ${COUNT_MAX})::int
    FROM unnest(${refusals.map(({ clientId }) => clientId)}::text[], ${refusals.map(({ date }) => date)}::date[],
      ${refusals.map(({ endpoint }) => endpoint)}::text[], ${refusals.map(({ status }) => status)}::int[],
      ${refusals.map(({ count }) => count)}::int[]) AS n(client_id, day, endpoint, status, count)
    JOIN app a ON a.client_id = n.client_id
    GROUP BY n.client_id, n.day, n.endpoint, n.status ORDER BY n.client_id, n.day, n.endpoint, n.status
    ON CONFLICT (client_id, day, endpoint, status)
    DO UPDATE SET count = least(r.count::bigint + excluded.count, ${COUNT_MAX})::int`;
}
