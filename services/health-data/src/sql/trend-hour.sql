-- A page of the trend by hour: a point for each metric type and hour with readings, newest first, each with the number
-- of points. A single row without a type when the page is empty.
--
-- Indexes: reading_pkey, reading_quarter_pkey.
-- Values:  $1 to $14 as aggregation.sql, $15 limit, $16 offset.
WITH
-- include: parts/summary-ranges.sql
hourly_metric AS (
  SELECT *
  FROM metric
),
-- include: parts/counted-hours.sql
point AS MATERIALIZED (
  SELECT ordinal, hour AS at, count::int AS count, sum, min, max
  FROM counted_hour
),
-- include: parts/trend-page.sql
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
-- include: parts/trend-answer.sql
