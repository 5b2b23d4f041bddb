import type { AppUsage, RefusalCount } from '@phds/contracts/phds/consent/v1/access_pb';
import type { Turns } from '@phds/service-kit/batcher';
import { notFound } from '@phds/service-kit/errors';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import { appCounts, type DayRange, within } from './counts-sql.ts';

const COUNT_MAX = 0x7fff_ffff;

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

/**
 * In key order, so that concurrent gateways do not deadlock. The person's history gets the attempts since they narrowed or ended the grant;
 * the lock on it waits for an erasure.
 */
async function addRefusals(pool: pg.Pool, refusals: readonly RefusalCount[]): Promise<void> {
  const attempts = refusals.filter(({ grantId }) => grantId !== '');
  await execute(pool)`
    WITH narrowed AS MATERIALIZED (
      SELECT id FROM consent_grant
      WHERE id = ANY(${attempts.map(({ grantId }) => grantId)}::text[]) AND revoked_by IS NULL
        AND (revoked_at IS NOT NULL OR expires_at > statement_timestamp())
      ORDER BY id FOR KEY SHARE
    ), attempted AS (
      INSERT INTO refused_read AS r (grant_id, day, count)
      SELECT g.id, n.day, least(sum(n.count), ${COUNT_MAX})::int
      FROM unnest(${attempts.map(({ grantId }) => grantId)}::text[], ${attempts.map(({ date }) => date)}::date[],
        ${attempts.map(({ count }) => count)}::int[]) AS n(grant_id, day, count)
      JOIN narrowed g ON g.id = n.grant_id
      GROUP BY g.id, n.day ORDER BY g.id, n.day
      ON CONFLICT (grant_id, day) DO UPDATE SET count = least(r.count::bigint + excluded.count, ${COUNT_MAX})::int
    )
    INSERT INTO refused_request AS r (client_id, day, endpoint, status, count, without_key)
    SELECT n.client_id, n.day, n.endpoint, n.status, least(sum(n.count), ${COUNT_MAX})::int,
      least(sum(n.without_key), ${COUNT_MAX})::int
    FROM unnest(${refusals.map(({ clientId }) => clientId)}::text[], ${refusals.map(({ date }) => date)}::date[],
      ${refusals.map(({ endpoint }) => endpoint)}::text[], ${refusals.map(({ status }) => status)}::int[],
      ${refusals.map(({ count }) => count)}::int[], ${refusals.map(({ withoutKey }) => withoutKey)}::int[])
      AS n(client_id, day, endpoint, status, count, without_key)
    JOIN app a ON a.client_id = n.client_id
    GROUP BY n.client_id, n.day, n.endpoint, n.status ORDER BY n.client_id, n.day, n.endpoint, n.status
    ON CONFLICT (client_id, day, endpoint, status)
    DO UPDATE SET count = least(r.count::bigint + excluded.count, ${COUNT_MAX})::int,
      without_key = least(r.without_key::bigint + excluded.without_key, ${COUNT_MAX})::int`;
}
