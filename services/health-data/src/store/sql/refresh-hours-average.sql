-- Recomputes hours of average types from their readings; an hour without readings is removed.
--
-- Where an offset changes by half an hour, an hour covers less than the hour after its first instant, so the hour of
-- each reading is compared as well. Values have at most two decimals: rounded to three, a sum is the same in whatever
-- order it was added up, so recomputed and rebuilt rows are equal to the last bit.
--
-- Indexes: reading_pkey, hour_rollup_pkey.
-- Values:  $1 user, $2 zone, $3 and $4 metric types and hours, in pairs, $5 to $7 reference ranges: type, low, high.
WITH
fresh AS (
  SELECT touched.type, touched.hour, readings.*
  FROM unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)
  LEFT JOIN unnest($5::text[], $6::float8[], $7::float8[]) AS normal(type, low, high) USING (type)
  CROSS JOIN LATERAL (
    SELECT count(*) AS count, round(sum(value)::numeric, 3)::float8 AS sum, min(value) AS min, max(value) AS max,
      count(*) FILTER (WHERE value < low) AS below, count(*) FILTER (WHERE value > high) AS above
    FROM reading
    WHERE user_id = $1 AND type = touched.type AND value IS NOT NULL
      AND start_at >= touched.hour AND start_at < touched.hour + interval '1 hour'
      AND date_trunc('hour', start_at, $2) = touched.hour
  ) AS readings
),
emptied AS (
  DELETE FROM hour_rollup
  USING fresh
  WHERE fresh.count = 0 AND user_id = $1 AND hour_rollup.type = fresh.type AND hour_rollup.hour = fresh.hour
)
INSERT INTO hour_rollup (user_id, type, hour, count, sum, min, max, below, above)
SELECT $1, type, hour, count, sum, min, max, below, above
FROM fresh
WHERE count > 0
ON CONFLICT (user_id, type, hour) DO UPDATE
  SET (count, sum, min, max, below, above)
    = (excluded.count, excluded.sum, excluded.min, excluded.max, excluded.below, excluded.above)
  WHERE (hour_rollup.*) IS DISTINCT FROM (excluded.*);
