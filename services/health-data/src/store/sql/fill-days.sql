-- Makes every day from the hours for a user who has none, with the same numbers as refresh-days.sql.
--
-- Indexes: hour_rollup_pkey.
-- Values:  $1 user, $2 zone, $3 to $5 reference ranges of additive types: type, low, high.
WITH
day AS (
  SELECT type, timezone($2, hour)::date AS start_on, sum(count) AS count, round(sum(sum)::numeric, 3)::float8 AS sum,
    min(min) AS min, max(max) AS max, sum(below) AS below, sum(above) AS above, count(*) AS hours
  FROM hour_rollup
  WHERE user_id = $1
  GROUP BY 1, 2
)
INSERT INTO day_rollup (user_id, type, span, start_on, count, sum, min, max, below, above, hours, days)
SELECT $1, type, 'day', start_on, count, sum, min, max, below + coalesce((sum < low)::int, 0),
  above + coalesce((sum > high)::int, 0), hours, 1
FROM day
LEFT JOIN unnest($3::text[], $4::float8[], $5::float8[]) AS normal(type, low, high) USING (type)
ORDER BY type, start_on;
