-- The accesses to a person's data by day of a time zone, newest first, then by app. Exact at the time of the statement: counted and uncounted
-- records.
--
-- At most two local days begin within a UTC day, so the quarters of a row belong to three consecutive local days: to the one with the
-- number place until cut1, to the next until cut2, and to the one after it. Set-returning functions in FROM would store their rows first.
--
-- Indexes: access_day_pkey, access_record_user_ref_id_idx, access_uncounted_pkey.
-- Values:  $1 reference of the person, $2 grant, $3 app, $4 scope: null for any; $5 and $6 first and last day, $7 the quarter hours since 1970
--          with which the days begin, and with which the day after the last begins.
WITH
counted AS (
  SELECT r.client_id, r.scope, local.place, local.recorded, local.refused
  FROM access_day r
  CROSS JOIN LATERAL (SELECT (r.day - date '1970-01-01') * 96 AS quarter) utc
  CROSS JOIN LATERAL (SELECT width_bucket(utc.quarter, $7::int[]) AS place) first
  CROSS JOIN LATERAL (
    SELECT coalesce(($7::int[])[place + 1] - utc.quarter, 96) AS cut1,
      coalesce(($7::int[])[place + 2] - utc.quarter, 96) AS cut2
    OFFSET 0 -- Otherwise Postgres computes the cuts again for each quarter.
  ) cuts
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(n) FILTER (WHERE number <= cuts.cut1), 0) AS cut1,
      coalesce(sum(n) FILTER (WHERE number <= cuts.cut2), 0) AS cut2, coalesce(sum(n), 0) AS total
    FROM (SELECT unnest(r.recorded_by_quarter) AS n, generate_subscripts(r.recorded_by_quarter, 1) AS number) quarters
  ) n
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(n) FILTER (WHERE number <= cuts.cut1), 0) AS cut1,
      coalesce(sum(n) FILTER (WHERE number <= cuts.cut2), 0) AS cut2, coalesce(sum(n), 0) AS total
    FROM (SELECT unnest(r.refused_by_quarter) AS n, generate_subscripts(r.refused_by_quarter, 1) AS number) quarters
  ) f
  CROSS JOIN LATERAL (VALUES
    (place, n.cut1, f.cut1),
    (place + 1, n.cut2 - n.cut1, f.cut2 - f.cut1),
    (place + 2, n.total - n.cut2, f.total - f.cut2)
  ) local(place, recorded, refused)
  WHERE
-- include: parts/access-filter.sql
    AND r.day >= (SELECT k.day FROM first_kept_day k) AND r.day BETWEEN $5::date - 1 AND $6::date + 1
  UNION ALL
  SELECT r.client_id, r.scope, width_bucket(quarter_of_id(coalesce(r.refers_to, r.id)), $7::int[]),
    CASE WHEN r.refers_to IS NULL THEN 1 ELSE 0 END, CASE WHEN r.refers_to IS NULL THEN 0 ELSE 1 END
  FROM uncounted_record r
  WHERE
-- include: parts/access-filter.sql
    AND day_of_id(coalesce(r.refers_to, r.id)) >= (SELECT k.day FROM first_kept_day k)
),
scopes AS (
  SELECT $5::date + place - 1 AS day, client_id, scope, sum(recorded - refused)::int AS released,
    sum(refused)::int AS refused
  FROM counted
  WHERE place BETWEEN 1 AND cardinality($7::int[]) - 1 AND (recorded > 0 OR refused > 0)
  GROUP BY place, client_id, scope
)
SELECT to_char(day, 'YYYY-MM-DD') AS date, client_id AS "clientId", sum(released)::int AS released,
  sum(refused)::int AS refused,
  jsonb_agg(jsonb_build_object('scope', scope, 'released', released, 'refused', refused) ORDER BY scope) AS scopes
FROM scopes
GROUP BY day, client_id
ORDER BY day DESC, client_id;
