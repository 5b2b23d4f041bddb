-- Recomputes hours of additive types that count by their start: of an hour only the source with the largest sum counts,
-- the first by name of equal ones. An hour without readings is removed. See refresh-hours-average.sql for hours and
-- sums.
--
-- Indexes: reading_pkey, hour_rollup_pkey.
-- Values:  $1 user, $2 zone, $3 and $4 metric types and hours, in pairs.
WITH
fresh AS (
  SELECT touched.type, touched.hour, readings.*
  FROM unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)
  LEFT JOIN LATERAL (
    SELECT source, count(*) AS count, round(sum(value)::numeric, 3)::float8 AS sum, min(value) AS min,
      max(value) AS max
    FROM reading
    WHERE user_id = $1 AND type = touched.type AND value IS NOT NULL
      AND start_at >= touched.hour AND start_at < touched.hour + interval '1 hour'
      AND date_trunc('hour', start_at, $2) = touched.hour
    GROUP BY source
    ORDER BY sum DESC, source
    LIMIT 1
  ) AS readings ON true
),
emptied AS (
  DELETE FROM hour_rollup
  USING fresh
  WHERE fresh.count IS NULL AND user_id = $1 AND hour_rollup.type = fresh.type AND hour_rollup.hour = fresh.hour
)
INSERT INTO hour_rollup (user_id, type, hour, count, sum, min, max, below, above)
SELECT $1, type, hour, count, sum, min, max, 0, 0
FROM fresh
WHERE count IS NOT NULL
ON CONFLICT (user_id, type, hour) DO UPDATE
  SET (count, sum, min, max, below, above)
    = (excluded.count, excluded.sum, excluded.min, excluded.max, excluded.below, excluded.above)
  WHERE (hour_rollup.*) IS DISTINCT FROM (excluded.*);
