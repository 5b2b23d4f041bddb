import type { AppUsage, RefusalCount } from '@phds/contracts/phds/consent/v1/access_pb';
import type { Turns } from '@phds/service-kit/batcher';
import { notFound } from '@phds/service-kit/errors';
import { execute, readStatement, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import { appCounts, type DayRange, within } from './counts-sql.ts';

const ADD_REFUSALS = readStatement(new URL('../store/sql/add-refusals.sql', import.meta.url));

export type Usage = ReturnType<typeof createUsage>;

/** The usage of apps, for their developers: counts of access records, and of refusals reported by gateways. */
export function createUsage({
  pools: { ordinary: pool },
  turns,
}: {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly turns: Turns;
}) {
  return {
    /** A null range means the last 30 days. Throws `not_found` unless the user owns the app. */
    ofApp: (clientId: string, ownerId: string, range: DayRange | null): Promise<AppUsage[]> =>
      turns(ownerId, async () => {
        const owned = await execute(
          pool,
        )`SELECT FROM app WHERE client_id = ${clientId} AND owner_id = ${ownerId}`;
        if (owned === 0) throw notFound();
        return select<AppUsage>(pool)`${selectUsage(clientId, range)}`;
      }),
    /** Adds a gateway's counts, ignoring those of unknown apps; all or nothing. */
    addRefusals: (refusals: readonly RefusalCount[]) => addRefusals(pool, refusals),
  };
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
        FILTER (WHERE c.status IS NOT NULL), '[]') AS refusals,
      sum(c.without_key)::int AS "withoutKey"
    FROM (
      SELECT day, endpoint, recorded - refused AS released, refused, NULL::int AS status, 0 AS count,
        0 AS without_key
      FROM ${appCounts(clientId)} r
      UNION ALL
      SELECT day, endpoint, 0, 0, status, count, without_key
      FROM refused_request WHERE client_id = ${clientId}
    ) c
    WHERE ${within(range)} GROUP BY c.day, c.endpoint ORDER BY c.day DESC, c.endpoint`;
}

async function addRefusals(pool: pg.Pool, refusals: readonly RefusalCount[]): Promise<void> {
  const columns = ['clientId', 'date', 'endpoint', 'status', 'count', 'withoutKey', 'grantId'] as const;
  const values = columns.map((column) => refusals.map((refusal) => refusal[column]));
  await pool.query({ ...ADD_REFUSALS, values });
}
