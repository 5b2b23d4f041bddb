-- A page of the trend by hour: a point for each metric type and hour with readings, newest first, each with the number
-- of points. A single row without a type when the page is empty or rollups are unusable.
--
-- Points of whole days come from rollups, the others are computed (other_point). A page far down is found by the number
-- of points in a year, then a month, a day and an hour. A type has at most one point of a name, so one more than the
-- page holds is enough of each type. MATERIALIZED and OFFSET 0 as in aggregation.sql.
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
  SELECT type, timezone($2, hour)::date AS day, hour AS at, count, sum, min, max
  FROM counted_hour
),
-- NOT MATERIALIZED, so that each lookup finds its rows by its own bounds.
points_of_span AS NOT MATERIALIZED (
  SELECT type, span, start_on, hours AS points
  FROM day_rollup
  WHERE user_id = $1
),
-- include: parts/day-of-page.sql
-- The points of that day by hour; its bounds are first instants of days, as in whole_days.
hour_of_day AS (
  SELECT hour.at, count(*)::int AS points, before AS newer
  FROM found_day
  CROSS JOIN LATERAL (
    SELECT at
    FROM other_point
    WHERE day = found_day.at
    UNION ALL
    SELECT hour
    FROM metric
    JOIN whole_days USING (keyed_by)
    CROSS JOIN LATERAL (
      SELECT hour
      FROM hour_rollup
      WHERE user_id = $1 AND type = metric.type
        AND hour >= timezone($2, found_day.at::timestamp)
          - CASE WHEN timezone($2, timezone($2, found_day.at::timestamp) - interval '1 hour') = found_day.at::timestamp
              THEN interval '1 hour' ELSE interval '0' END
        AND hour < timezone($2, (found_day.at + 1)::timestamp)
          - CASE WHEN timezone($2, timezone($2, (found_day.at + 1)::timestamp) - interval '1 hour')
                = (found_day.at + 1)::timestamp
              THEN interval '1 hour' ELSE interval '0' END
      OFFSET 0
    ) AS rollup
    WHERE found_day.at >= lower AND found_day.at < upper
  ) AS hour
  GROUP BY hour.at, before
),
ranked_hour AS (
  SELECT *, sum(points) OVER (ORDER BY at DESC) - points + newer AS before
  FROM hour_of_day
),
found_hour AS (
  SELECT at, before
  FROM ranked_hour
  WHERE before <= $22 AND before + points > $22
  LIMIT 1
),
page_start AS MATERIALIZED (
  SELECT at AS newest, before
  FROM found_hour
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
    SELECT hour AS at, count, sum, min, max
    FROM hour_rollup
    WHERE user_id = $1 AND type = metric.type AND hour >= first_hour AND hour < end_hour AND hour <= newest
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
-- The first instant of the hour. date_trunc() keeps the offset of the instant it is given: where the clock was moved by
-- half an hour it goes back beyond that change, which stands at the full hour of the old time.
local_page AS (
  SELECT *, timezone($2, at) - date_trunc('hour', timezone($2, at)) AS past_hour
  FROM page
),
shown AS (
  SELECT *,
    at + CASE WHEN past_hour = interval '0' THEN interval '0' ELSE interval '1 hour' - past_hour END AS start,
    at + interval '1 hour' AS "end"
  FROM local_page
)
SELECT usable, time_zone, total, type, start, "end", count::int AS count, sum, min, max,
  extract(epoch FROM timezone($2, start) - timezone('UTC', start))::int AS start_offset,
  extract(epoch FROM timezone($2, "end") - timezone('UTC', "end"))::int AS end_offset
FROM rollups
CROSS JOIN total
LEFT JOIN shown ON true
ORDER BY at DESC, ordinal;
