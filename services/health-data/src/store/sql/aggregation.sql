-- A summary for each metric type with readings; a single row without a type when there are none or rollups are
-- unusable.
--
-- Readings, hours and spans of the cover (domain/summary-cover.ts) are disjoint, so each is summed up for itself and
-- the sums are added. MATERIALIZED and OFFSET 0 keep the lookups apart, so that each range finds its rows by its own
-- bounds, however many rows the planner expects.
--
-- Indexes: reading_pkey, hour_rollup_pkey, day_rollup_pkey, rollup_state_pkey.
-- Values:  $1 user, $2 zone, $3 version of the rollups,
--          $4 to $8 metric types: key, kind, what counts (start or end), reference range,
--          $9 no reading that starts earlier counts, $10 to $12 ranges of readings,
--          $13 to $16 ranges of whole days, months and years in rollups, $17 to $19 ranges of whole hours in rollups,
--          $20 zone that the rollups must be of,
--          $21 and $22 bounds between which the newest reading is searched.
WITH
-- include: parts/summary-rows.sql
-- The sum of a day is rounded before it is compared: binary noise must not put a total below a limit that it meets.
additive_day AS (
  SELECT type, low, high, timezone($2, hour)::date AS day, round(sum(sum)::numeric, 3)::float8 AS value
  FROM additive_hour
  JOIN metric USING (type)
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
  SELECT type, rollup.*
  FROM metric
  JOIN hour_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT sum(count), sum(sum), min(min), max(max), sum(below), sum(above)
    FROM hour_rollup
    WHERE user_id = $1 AND type = metric.type AND hour >= lower AND hour < upper
    HAVING count(*) > 0
    OFFSET 0
  ) AS rollup
  WHERE kind = 'average'
  UNION ALL
  SELECT type, 1, value, value, value, coalesce((value < low)::int, 0), coalesce((value > high)::int, 0)
  FROM additive_day
  UNION ALL
  -- A month and longer describe an additive type by its days; a day is described by its sum.
  SELECT type, rollup.*
  FROM metric
  JOIN span_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT sum(CASE kind WHEN 'additive' THEN days ELSE count END), sum(sum),
      min(CASE WHEN kind = 'additive' AND span_range.span = 'day' THEN sum ELSE min END),
      max(CASE WHEN kind = 'additive' AND span_range.span = 'day' THEN sum ELSE max END), sum(below), sum(above)
    FROM day_rollup
    WHERE user_id = $1 AND type = metric.type AND span = span_range.span AND start_on >= lower AND start_on < upper
    HAVING count(*) > 0
    OFFSET 0
  ) AS rollup
),
summary AS (
  SELECT type, sum(count)::int AS count, sum(sum) AS sum, min(min) AS min, max(max) AS max, sum(below)::int AS below,
    sum(above)::int AS above
  FROM part
  GROUP BY type
),
day_total AS (
  SELECT type, day, value
  FROM additive_day
  UNION ALL
  SELECT type, start_on, sum
  FROM metric
  JOIN whole_days USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT start_on, sum
    FROM day_rollup
    WHERE user_id = $1 AND type = metric.type AND span = 'day' AND start_on >= lower AND start_on < upper
    ORDER BY start_on DESC
    LIMIT 1
  ) AS rollup
  WHERE kind = 'additive'
),
newest_day AS (
  SELECT DISTINCT ON (type) type,
    timezone($2, day::timestamp)
      - CASE WHEN timezone($2, timezone($2, day::timestamp) - interval '1 hour') = day::timestamp
          THEN interval '1 hour' ELSE interval '0' END AS at,
    value
  FROM day_total
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
      WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= $21 AND start_at < $22
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
SELECT usable, time_zone, summary.*, newest.at, newest.value AS latest
FROM rollups
LEFT JOIN (summary JOIN newest USING (type)) ON true;
