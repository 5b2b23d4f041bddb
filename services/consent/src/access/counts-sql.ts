import sql, { type Sql } from 'sql-template-tag';
import type { LocalDays } from './local-days.ts';

/** UTC dates, inclusive. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

const DEFAULT_DAYS_BACK = 29;

/** Selects records that are not yet counted in access_day: only a few, all of them new. */
const UNCOUNTED = sql`r.id >= (SELECT first_id_of(min(at)) FROM access_uncounted)
  AND EXISTS (SELECT FROM access_uncounted u WHERE u.writer = r.writer AND u.seq = r.seq)`;

/** The first day with records. Counts of dropped months may exist a little longer than their records. */
const FIRST_KEPT = sql`(SELECT (coalesce(max(kept_from), '-infinity') AT TIME ZONE 'UTC')::date
  FROM consent_audit.access_dropped)`;

/**
 * Counts of accesses by day, exact at the time of the statement: counted and uncounted records. `where` may use the columns that
 * both have: user_ref, client_id, grant_id, scope, endpoint.
 */
export function accessCounts(where: Sql): Sql {
  return sql`(SELECT * FROM (
    SELECT client_id, grant_id, scope, endpoint, day, recorded, refused, last_at FROM access_day r WHERE ${where}
    UNION ALL
    SELECT client_id, grant_id, scope, endpoint, day_of_id(coalesce(refers_to, id)),
      CASE WHEN refers_to IS NULL THEN 1 ELSE 0 END, CASE WHEN refers_to IS NULL THEN 0 ELSE 1 END,
      CASE WHEN refers_to IS NULL THEN at END
    FROM access_record r WHERE ${where} AND ${UNCOUNTED}) r WHERE day >= ${FIRST_KEPT})`;
}

/** The same counts of an app by day and endpoint, from app_day, which does not grow with users. */
export function appCounts(clientId: string): Sql {
  return sql`(SELECT * FROM (
    SELECT endpoint, day, recorded, refused FROM app_day WHERE client_id = ${clientId}
    UNION ALL
    SELECT endpoint, day_of_id(coalesce(refers_to, id)),
      CASE WHEN refers_to IS NULL THEN 1::bigint ELSE 0 END, CASE WHEN refers_to IS NULL THEN 0::bigint ELSE 1 END
    FROM access_record r WHERE client_id = ${clientId} AND ${UNCOUNTED}) r WHERE day >= ${FIRST_KEPT})`;
}

/**
 * The same counts for days of a time zone, without those of other days.
 *
 * At most two local days begin within a UTC day, so the quarters of a row belong to three consecutive local days: to the one with the
 * number `place` until `cut1`, to the next until `cut2`, and to the one after it.
 */
export function localAccessCounts(where: Sql, { from, to, starts }: LocalDays): Sql {
  return sql`(
    SELECT client_id, scope, ${from}::date + place - 1 AS day, recorded, refused FROM (
      SELECT r.client_id, r.scope, local.place, local.recorded, local.refused
      FROM access_day r
      CROSS JOIN LATERAL (SELECT (r.day - date '1970-01-01') * 96 AS quarter) utc
      CROSS JOIN LATERAL (SELECT width_bucket(utc.quarter, ${starts}::int[]) AS place) first
      CROSS JOIN LATERAL (SELECT coalesce((${starts}::int[])[place + 1] - utc.quarter, 96) AS cut1,
        coalesce((${starts}::int[])[place + 2] - utc.quarter, 96) AS cut2
        OFFSET 0 -- Otherwise Postgres computes the cuts again for each quarter.
      ) cuts
      CROSS JOIN LATERAL (${untilCuts(sql`r.recorded_by_quarter`)}) n
      CROSS JOIN LATERAL (${untilCuts(sql`r.refused_by_quarter`)}) f
      CROSS JOIN LATERAL (VALUES (place, n.cut1, f.cut1), (place + 1, n.cut2 - n.cut1, f.cut2 - f.cut1),
        (place + 2, n.total - n.cut2, f.total - f.cut2)) local(place, recorded, refused)
      WHERE ${where} AND r.day >= ${FIRST_KEPT} AND r.day BETWEEN ${from}::date - 1 AND ${to}::date + 1
      UNION ALL
      SELECT client_id, scope, width_bucket(quarter_of_id(coalesce(refers_to, id)), ${starts}::int[]),
        CASE WHEN refers_to IS NULL THEN 1 ELSE 0 END, CASE WHEN refers_to IS NULL THEN 0 ELSE 1 END
      FROM access_record r WHERE ${where} AND ${UNCOUNTED} AND day_of_id(coalesce(refers_to, id)) >= ${FIRST_KEPT}
    ) counted WHERE place BETWEEN 1 AND ${starts.length - 1} AND (recorded > 0 OR refused > 0))`;
}

/** The sums of an array of quarters until each cut. Set-returning functions in FROM would store their rows first. */
function untilCuts(column: Sql): Sql {
  return sql`
    SELECT coalesce(sum(n) FILTER (WHERE number <= cuts.cut1), 0) AS cut1,
      coalesce(sum(n) FILTER (WHERE number <= cuts.cut2), 0) AS cut2, coalesce(sum(n), 0) AS total
    FROM (SELECT unnest(${column}) AS n, generate_subscripts(${column}, 1) AS number) quarters`;
}

/** Limits the counts with the alias `c` to days; null for the last 30. */
export function within(range: DayRange | null): Sql {
  if (range !== null) return sql`c.day BETWEEN ${range.from}::date AND ${range.to}::date`;
  return sql`c.day BETWEEN (statement_timestamp() AT TIME ZONE 'UTC')::date - ${DEFAULT_DAYS_BACK}::int
    AND (statement_timestamp() AT TIME ZONE 'UTC')::date`;
}
