-- Recomputes the years that touched hours lie in, and all time, from their months; one without days is removed.
--
-- Indexes: day_rollup_pkey.
-- Values:  $1 user, $2 zone, $3 and $4 metric types and hours, in pairs.
WITH
touched AS (
  SELECT DISTINCT type, span, start_on
  FROM unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)
  CROSS JOIN LATERAL (
    VALUES ('year', date_trunc('year', timezone($2, hour))::date), ('all', '-infinity')
  ) AS covering(span, start_on)
),
fresh AS (
  SELECT touched.type, touched.span, touched.start_on, months.*
  FROM touched
  CROSS JOIN LATERAL (
    SELECT sum(count) AS count, round(sum(sum)::numeric, 3)::float8 AS sum, min(min) AS min, max(max) AS max,
      sum(below) AS below, sum(above) AS above, sum(hours) AS hours, coalesce(sum(days), 0) AS days
    FROM day_rollup AS month
    WHERE user_id = $1 AND type = touched.type AND month.span = 'month' AND month.start_on >= touched.start_on
      AND month.start_on < CASE touched.span WHEN 'year' THEN touched.start_on + interval '1 year' ELSE 'infinity' END
  ) AS months
),
emptied AS (
  DELETE FROM day_rollup
  USING fresh
  WHERE fresh.days = 0 AND user_id = $1 AND day_rollup.type = fresh.type AND day_rollup.span = fresh.span
    AND day_rollup.start_on = fresh.start_on
)
INSERT INTO day_rollup (user_id, type, span, start_on, count, sum, min, max, below, above, hours, days)
SELECT $1, type, span, start_on, count, sum, min, max, below, above, hours, days
FROM fresh
WHERE days > 0
ORDER BY type, span, start_on
ON CONFLICT (user_id, type, span, start_on) DO UPDATE
  SET (count, sum, min, max, below, above, hours, days) = (excluded.count, excluded.sum, excluded.min, excluded.max,
    excluded.below, excluded.above, excluded.hours, excluded.days)
  WHERE (day_rollup.*) IS DISTINCT FROM (excluded.*);
