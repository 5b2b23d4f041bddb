-- Makes every hour of types that count by their end (sleep) for a user who has none, with the same numbers as
-- refresh-hours-by-end.sql.
--
-- Indexes: reading_pkey.
-- Values:  $1 user, $2 zone, $3 metric types.
WITH
slept AS (
  SELECT type, source, value, date_trunc('hour', end_at, $2) AS hour
  FROM reading
  WHERE user_id = $1 AND type = ANY($3::text[]) AND value IS NOT NULL
),
source_hour AS (
  SELECT type, timezone($2, hour)::date AS day, hour, source, count(*) AS count,
    round(sum(value)::numeric, 3)::float8 AS sum, min(value) AS min, max(value) AS max
  FROM slept
  GROUP BY 1, 2, 3, 4
),
summed_source AS (
  SELECT *, sum(sum) OVER (PARTITION BY type, day, source) AS source_sum
  FROM source_hour
),
ranked_source AS (
  SELECT *, rank() OVER (PARTITION BY type, day ORDER BY round(source_sum::numeric, 3) DESC, source) AS source_rank
  FROM summed_source
)
INSERT INTO hour_rollup (user_id, type, hour, count, sum, min, max, below, above)
SELECT $1, type, hour, count, sum, min, max, 0, 0
FROM ranked_source
WHERE source_rank = 1
ORDER BY type, hour;
