-- A page of the readings of a category in a window, newest first, each row with the total of the window. A single row
-- without an id when the page is empty.
--
-- For pages far down: reading_count tells in which year, then month, day and hour the page begins, and how many
-- readings are newer, so only the rows of one hour are skipped. LIMIT 1 tells the planner that one span holds the first
-- row.
--
-- For one metric type, pg-readings.ts compares the type instead of the category; then reading_pkey is used.
--
-- Indexes: reading_user_id_category_start_at_id_idx, reading_count_pkey.
-- Values:  as readings-by-offset.sql.
WITH RECURSIVE
-- The window: whole spans as they are counted, and its edges, of which the readings are counted.
part AS (
  SELECT span, start_at, start_at + ('1 ' || span)::interval AS end_at, number::int AS number
  FROM unnest($8::text[], $9::timestamptz[], $10::timestamptz[]) AS whole(name, lower, upper)
  CROSS JOIN LATERAL (
    SELECT span, start_at, sum(count) AS number
    FROM reading_count
    WHERE user_id = $1 AND type = ANY($3) AND span = name AND start_at >= lower AND start_at < upper
    GROUP BY span, start_at
  ) AS kept
  UNION ALL
  SELECT 'edge', lower, upper, number
  FROM unnest($11::timestamptz[], $12::timestamptz[]) AS edge(lower, upper)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS number
    FROM reading
    WHERE user_id = $1 AND category = $2 AND start_at >= lower AND start_at < upper
  ) AS at_edge
),
total AS (
  SELECT coalesce(sum(number), 0) AS total
  FROM part
),
ranked_part AS (
  SELECT *, sum(number) OVER (ORDER BY start_at DESC) - number AS before
  FROM part
),
-- The part that holds the row behind $5 others, then the span of it that does, and so on down to an hour or an edge.
found_span AS (
  (
    SELECT span, start_at, end_at, before
    FROM ranked_part
    WHERE before <= $5 AND before + number > $5
    LIMIT 1
  )
  UNION ALL
  SELECT finer.*
  FROM found_span
  CROSS JOIN LATERAL (
    SELECT span, start_at, start_at + ('1 ' || span)::interval, before
    FROM (
      SELECT span, start_at, sum(count)::int AS number,
        found_span.before + sum(sum(count)::int) OVER (ORDER BY start_at DESC) - sum(count)::int AS before
      FROM reading_count
      WHERE user_id = $1 AND type = ANY($3) AND start_at >= found_span.start_at AND start_at < found_span.end_at
        AND span = CASE found_span.span WHEN 'year' THEN 'month' WHEN 'month' THEN 'day' WHEN 'day' THEN 'hour' END
      GROUP BY span, start_at
    ) AS ranked
    WHERE before <= $5 AND before + number > $5
    LIMIT 1
  ) AS finer
),
finest AS (
  SELECT end_at, before
  FROM found_span
  ORDER BY start_at DESC, end_at
  LIMIT 1
),
newest AS (
  SELECT id, type, value, source, start_at, end_at
  FROM reading
  WHERE user_id = $1 AND category = $2 AND start_at >= $6 AND start_at < $7 AND start_at < (SELECT end_at FROM finest)
  ORDER BY start_at DESC
  FETCH FIRST ($4::bigint + $5 - (SELECT before FROM finest)) ROWS WITH TIES
),
page AS (
  SELECT *
  FROM newest
  ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
  LIMIT $4::bigint OFFSET $5 - (SELECT before FROM finest)
)
SELECT id, type, value, source, start_at, total
FROM total
LEFT JOIN page ON true
ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id;
