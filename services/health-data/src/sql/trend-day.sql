-- A page of the trend by day: a point for each metric type and day with readings, newest first, each with the number of
-- points. A single row without a type when the page is empty.
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
  SELECT ordinal, timezone($2, hour)::date AS at, sum(count)::int AS count, sum(sum) AS sum, min(min) AS min, max(max) AS max
  FROM counted_hour
  GROUP BY 1, 2
),
-- include: parts/trend-page.sql
-- The first instants of the day and of the next one. timezone() means the second of two midnights that an autumn night calls
-- by the same name; the CASE goes back to the first.
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
-- include: parts/trend-answer.sql
