-- A page of the trend by day: a point for each metric type and day with readings, newest first, each with the number of
-- points. A single row without a type when the page is empty or rollups are unusable.
--
-- Points of whole days come from rollups, the others are computed (other_point). A page far down is found by the number
-- of points in a year, then a month and a day. A type has at most one point of a name, so one more than the page
-- holds is enough of each type. MATERIALIZED and OFFSET 0 as in aggregation.sql.
--
-- Indexes: reading_pkey, hour_rollup_pkey, day_rollup_pkey, rollup_state_pkey.
-- Values:  $1 user, $2 zone, $3 version of the rollups,
--          $4 to $8 metric types: key, kind, what counts (start or end), reference range,
--          $9 no reading that starts earlier counts, $10 to $12 ranges of readings,
--          $13 to $16 ranges of whole days, months and years in rollups, $17 to $19 ranges of whole hours in rollups,
--          $20 zone that the rollups must be of,
--          $21 limit, $22 offset.
WITH RECURSIVE
-- include: parts/summary-rows.sql
-- include: parts/counted-hours.sql
other_point AS MATERIALIZED (
  SELECT type, timezone($2, hour)::date AS day, timezone($2, hour)::date AS at, sum(count)::int AS count,
    sum(sum) AS sum, min(min) AS min, max(max) AS max
  FROM counted_hour
  GROUP BY 1, 2
),
-- NOT MATERIALIZED, so that each lookup finds its rows by its own bounds.
points_of_span AS NOT MATERIALIZED (
  SELECT type, span, start_on, days AS points
  FROM day_rollup
  WHERE user_id = $1
),
-- include: parts/day-of-page.sql
page_start AS MATERIALIZED (
  SELECT at AS newest, before
  FROM found_day
  UNION ALL
  SELECT 'infinity', 0
  WHERE $22 = 0
),
point AS (
  SELECT type, at, count, sum, min, max
  FROM other_point, page_start
  WHERE at <= newest
  UNION ALL
  SELECT type, rollup.*
  FROM page_start
  CROSS JOIN metric
  JOIN whole_days USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT start_on AS at, count, sum, min, max
    FROM day_rollup
    WHERE user_id = $1 AND type = metric.type AND span = 'day' AND start_on >= lower AND start_on < upper
      AND start_on <= newest
    ORDER BY at DESC
    LIMIT $21::bigint + 1
  ) AS rollup
),
page AS (
  SELECT point.*, ordinal
  FROM point
  JOIN metric USING (type)
  ORDER BY at DESC, ordinal
  LIMIT $21 OFFSET $22 - (SELECT before FROM page_start)
),
-- The first instants of the day and of the next one, as in whole_days.
shown AS (
  SELECT *,
    timezone($2, at::timestamp)
      - CASE WHEN timezone($2, timezone($2, at::timestamp) - interval '1 hour') = at::timestamp
          THEN interval '1 hour' ELSE interval '0' END AS start,
    timezone($2, (at + 1)::timestamp)
      - CASE WHEN timezone($2, timezone($2, (at + 1)::timestamp) - interval '1 hour') = (at + 1)::timestamp
          THEN interval '1 hour' ELSE interval '0' END AS "end"
  FROM page
)
SELECT usable, time_zone, total, type, start, "end", count::int AS count, sum, min, max,
  extract(epoch FROM timezone($2, start) - timezone('UTC', start))::int AS start_offset,
  extract(epoch FROM timezone($2, "end") - timezone('UTC', "end"))::int AS end_offset
FROM rollups
CROSS JOIN total
LEFT JOIN shown ON true
ORDER BY at DESC, ordinal;
