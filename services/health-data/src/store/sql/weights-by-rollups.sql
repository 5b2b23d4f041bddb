-- A page of weight entries: of each local day with Weight readings the newest one, newest day first, each with the
-- number of such days. A single row without an id when the page is empty or rollups are unusable.
--
-- The days are those of the trend of weights; a page far down is found by the number of days in a year and a month, as
-- in trend-day.sql. Each reading's local date is compared again, because timezone() means the second of two midnights
-- and the bounds of the day are generous.
--
-- Indexes: day_rollup_pkey, reading_pkey, rollup_state_pkey.
-- Values:  $1 user, $2 zone, $3 version of the rollups, $4 to $6 ranges of whole days, months and years: span and
--          bounds, $7 limit, $8 offset.
WITH RECURSIVE
rollups AS MATERIALIZED (
  SELECT cardinality($4::text[]) = 0 OR coalesce(time_zone = $2, false) AS usable
  FROM (VALUES ($1)) AS person(user_id)
  LEFT JOIN rollup_state ON rollup_state.user_id = person.user_id AND version = $3
),
span_range AS MATERIALIZED (
  SELECT span_range.*
  FROM unnest($4::text[], $5::date[], $6::date[]) AS span_range(span, lower, upper), rollups
  WHERE usable
),
part AS (
  SELECT rollup.*
  FROM span_range
  CROSS JOIN LATERAL (
    SELECT span, start_on, days
    FROM day_rollup
    WHERE user_id = $1 AND type = 'weight' AND span = span_range.span AND start_on >= lower AND start_on < upper
    OFFSET 0
  ) AS rollup
),
total AS (
  SELECT coalesce(sum(days), 0)::int AS total
  FROM part
),
ranked_part AS (
  SELECT *, sum(days) OVER (ORDER BY start_on DESC) - days AS before
  FROM part
),
-- Unless the page is the first: the part that holds the day behind $8 others, then the month and the day of it.
found_span AS (
  (
    SELECT span, start_on, before
    FROM ranked_part
    WHERE $8 > 0 AND before <= $8 AND before + days > $8
    LIMIT 1
  )
  UNION ALL
  SELECT finer.*
  FROM found_span
  CROSS JOIN LATERAL (
    SELECT span, start_on, before
    FROM (
      SELECT span, start_on, days, found_span.before + sum(days) OVER (ORDER BY start_on DESC) - days AS before
      FROM day_rollup
      WHERE user_id = $1 AND type = 'weight'
        AND span = CASE found_span.span WHEN 'year' THEN 'month' WHEN 'month' THEN 'day' END
        AND start_on >= found_span.start_on
        AND start_on < found_span.start_on + ('1 ' || found_span.span)::interval
    ) AS ranked
    WHERE before <= $8 AND before + days > $8
    LIMIT 1
  ) AS finer
),
page_start AS (
  SELECT start_on AS newest, before
  FROM found_span
  WHERE span = 'day'
  UNION ALL
  SELECT 'infinity', 0
  WHERE $8 = 0
),
page AS (
  SELECT day.start_on
  FROM page_start
  CROSS JOIN (SELECT min(lower) AS lower, max(upper) AS upper FROM span_range) AS whole_days
  CROSS JOIN LATERAL (
    SELECT start_on
    FROM day_rollup
    WHERE user_id = $1 AND type = 'weight' AND span = 'day' AND start_on >= lower AND start_on < upper
      AND start_on <= newest
    ORDER BY start_on DESC
    LIMIT $7 OFFSET $8 - before
  ) AS day
),
entry AS (
  SELECT newest.id, newest.value, newest.start_at, page.start_on
  FROM page
  CROSS JOIN LATERAL (
    SELECT *
    FROM (
      SELECT id, type, value, source, start_at, end_at
      FROM reading
      WHERE user_id = $1 AND type = 'weight' AND value IS NOT NULL
        AND timezone($2, start_at)::date = page.start_on
        AND start_at >= timezone($2, page.start_on::timestamp) - interval '2 hours'
        AND start_at < timezone($2, (page.start_on + 1)::timestamp) + interval '2 hours'
      ORDER BY start_at DESC
      FETCH FIRST 1 ROWS WITH TIES
    ) AS tied
    ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
    LIMIT 1
  ) AS newest
)
SELECT id, value, start_on, total, usable, start_at
FROM rollups
CROSS JOIN total
LEFT JOIN entry ON true
ORDER BY start_on DESC;
