-- A summary for each metric type with readings.
--
-- The ranges of quarter hours and of readings are disjoint (summaries.ts), so each is summed up for itself and the sums
-- are added. MATERIALIZED and OFFSET 0 keep the lookups apart, so that each range finds its rows by its own bounds, however
-- many rows the planner expects.
--
-- Indexes: reading_pkey, reading_quarter_pkey.
-- Values:  $1 user, $2 zone,
--          $3 to $7 metric types: key, kind, what counts (start or end), reference range,
--          $8 no reading that starts earlier counts, $9 to $11 ranges of readings, $12 to $14 ranges of quarter hours,
--          $15 and $16 bounds between which the newest reading is searched.
WITH
-- include: parts/summary-ranges.sql
hourly_metric AS (
  SELECT *
  FROM metric
  WHERE kind = 'additive'
),
-- include: parts/counted-hours.sql
-- The sum of a day is rounded before it is compared: binary noise must not put a total below a limit that it meets.
additive_day AS (
  SELECT type, low, high, timezone($2, hour)::date AS day, round(sum(sum)::numeric, 3)::float8 AS value
  FROM counted_hour
  JOIN metric USING (ordinal)
  GROUP BY 1, 2, 3, 4
),
part AS (
  SELECT type, count(*) AS count, sum(value) AS sum, min(value) AS min, max(value) AS max,
    count(*) FILTER (WHERE value < low) AS below, count(*) FILTER (WHERE value > high) AS above
  FROM metric
  JOIN reading_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT value
    FROM reading
    WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= earliest AND start_at < upper
      AND (keyed_by = 'start' OR (end_at >= lower AND end_at < upper))
    OFFSET 0
  ) AS reading
  WHERE kind = 'average'
  GROUP BY type
  UNION ALL
  SELECT type, quarters.*
  FROM metric
  JOIN quarter_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT sum(count), sum(sum), min(min), max(max), sum(below), sum(above)
    FROM reading_quarter
    WHERE user_id = $1 AND type = metric.type AND at >= lower AND at < upper
    HAVING count(*) > 0
    OFFSET 0
  ) AS quarters
  WHERE kind = 'average'
  UNION ALL
  SELECT type, count(*), sum(value), min(value), max(value), count(*) FILTER (WHERE value < low),
    count(*) FILTER (WHERE value > high)
  FROM additive_day
  GROUP BY type
),
summary AS (
  SELECT type, sum(count)::int AS count, sum(sum) AS sum, min(min) AS min, max(max) AS max, sum(below)::int AS below,
    sum(above)::int AS above
  FROM part
  GROUP BY type
),
-- timezone() means the second of two midnights that an autumn night calls by the same name; the CASE goes back to the first.
newest_day AS (
  SELECT DISTINCT ON (type) type,
    timezone($2, day::timestamp)
      - CASE WHEN timezone($2, timezone($2, day::timestamp) - interval '1 hour') = day::timestamp
          THEN interval '1 hour' ELSE interval '0' END AS at,
    value
  FROM additive_day
  ORDER BY type, day DESC
),
newest_reading AS (
  SELECT metric.type, start_at AS at, value
  FROM metric
  CROSS JOIN LATERAL (
    SELECT *
    FROM (
      SELECT id, type, value, source, start_at, end_at
      FROM reading
      WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= $15 AND start_at < $16
      ORDER BY start_at DESC
      FETCH FIRST 1 ROWS WITH TIES
    ) AS tied
    ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
    LIMIT 1
  ) AS newest
  WHERE kind = 'average'
),
newest AS (
  SELECT * FROM newest_day
  UNION ALL
  SELECT * FROM newest_reading
)
SELECT type AS metric, count, sum, min, max, below, above, newest.value AS latest, newest.at AS "latestAt"
FROM summary
JOIN newest USING (type);
