-- Recomputes the months that touched hours lie in from their days; a month without days is removed. An additive type is
-- described by its days: their number, and the smallest and largest of their sums.
--
-- Indexes: day_rollup_pkey.
-- Values:  $1 user, $2 zone, $3 and $4 metric types and hours, in pairs, $5 additive types.
WITH
touched AS (
  SELECT DISTINCT type, type = ANY($5::text[]) AS additive, date_trunc('month', timezone($2, hour))::date AS start_on
  FROM unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)
),
fresh AS (
  SELECT touched.type, 'month' AS span, touched.start_on, days.*
  FROM touched
  CROSS JOIN LATERAL (
    SELECT CASE WHEN additive THEN count(*) ELSE sum(count) END AS count, round(sum(sum)::numeric, 3)::float8 AS sum,
      CASE WHEN additive THEN min(sum) ELSE min(min) END AS min,
      CASE WHEN additive THEN max(sum) ELSE max(max) END AS max,
      sum(below) AS below, sum(above) AS above, sum(hours) AS hours, count(*) AS days
    FROM day_rollup AS day
    WHERE user_id = $1 AND type = touched.type AND span = 'day'
      AND day.start_on >= touched.start_on AND day.start_on < touched.start_on + interval '1 month'
  ) AS days
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
