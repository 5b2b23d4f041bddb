-- Makes every hour of additive types that count by their start for a user who has none, with the same numbers as
-- refresh-hours-by-start.sql.
--
-- Indexes: reading_pkey.
-- Values:  $1 user, $2 zone, $3 metric types.
WITH
source_hour AS (
  SELECT type, source, date_trunc('hour', start_at, $2) AS hour, count(*) AS count,
    round(sum(value)::numeric, 3)::float8 AS sum, min(value) AS min, max(value) AS max
  FROM reading
  WHERE user_id = $1 AND type = ANY($3::text[]) AND value IS NOT NULL
  GROUP BY 1, 2, 3
)
INSERT INTO hour_rollup (user_id, type, hour, count, sum, min, max, below, above)
SELECT DISTINCT ON (type, hour) $1, type, hour, count, sum, min, max, 0, 0
FROM source_hour
ORDER BY type, hour, sum DESC, source;
