-- Makes the hours of types that count by their end (sleep) for the local dates that touched hours lie in: of a date
-- only the source with the largest sum counts, the first by name of equal ones. See refresh-hours-average.sql for sums.
--
-- The bounds of a date are generous, as in clear-hours-by-end.sql, and reach back another 25 hours: no interval is
-- longer than a day, so a start lies at most that far before its end.
--
-- Indexes: reading_pkey.
-- Values:  $1 user, $2 zone, $3 and $4 metric types and hours, in pairs.
WITH
touched AS (
  SELECT DISTINCT type, timezone($2, hour)::date AS day
  FROM unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)
),
source_hour AS (
  SELECT touched.type, day, hour, source, count(*) AS count, round(sum(value)::numeric, 3)::float8 AS sum,
    min(value) AS min, max(value) AS max
  FROM touched
  CROSS JOIN LATERAL (
    SELECT source, value, date_trunc('hour', end_at, $2) AS hour
    FROM reading
    WHERE user_id = $1 AND type = touched.type AND value IS NOT NULL
      AND start_at >= timezone($2, day::timestamp) - interval '27 hours'
      AND start_at < timezone($2, (day + 1)::timestamp) + interval '2 hours'
  ) AS slept
  WHERE timezone($2, hour)::date = day
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
