-- Recomputes the local dates that touched hours lie in from their hours; a date without hours is removed. A date's sum
-- of an additive type is compared with the reference range here. Rows are written in the order in which they are read.
--
-- The bounds of a date are generous, because an hour's first instant may lie a little outside of the date that it
-- belongs to. See refresh-hours-average.sql for sums.
--
-- Indexes: hour_rollup_pkey, day_rollup_pkey.
-- Values:  $1 user, $2 zone, $3 and $4 metric types and hours, in pairs, $5 to $7 reference ranges of additive types:
--          type, low, high.
WITH
touched AS (
  SELECT DISTINCT type, timezone($2, hour)::date AS day
  FROM unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)
),
fresh AS (
  SELECT touched.type, 'day' AS span, day AS start_on, hours.count, hours.sum, hours.min, hours.max,
    hours.below + coalesce((hours.sum < low)::int, 0) AS below,
    hours.above + coalesce((hours.sum > high)::int, 0) AS above,
    hours.hours, (hours.hours > 0)::int AS days
  FROM touched
  LEFT JOIN unnest($5::text[], $6::float8[], $7::float8[]) AS normal(type, low, high) USING (type)
  CROSS JOIN LATERAL (
    SELECT sum(count) AS count, round(sum(sum)::numeric, 3)::float8 AS sum, min(min) AS min, max(max) AS max,
      sum(below) AS below, sum(above) AS above, count(*) AS hours
    FROM hour_rollup
    WHERE user_id = $1 AND type = touched.type
      AND hour >= timezone($2, day::timestamp) - interval '2 hours'
      AND hour < timezone($2, (day + 1)::timestamp) + interval '2 hours'
      AND timezone($2, hour)::date = day
  ) AS hours
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
