-- A page of the readings of a category in a window, newest first, each row with the total of the window. A single row
-- without an id when the page is empty.
--
-- The total comes from reading_count; readings are counted only at the edges of the window, less than two days. The rows
-- before the page are skipped one by one, but for those of later parts of the window: for a page far down, the parts are days.
--
-- For one metric type, readings.ts compares the type instead of the category; then reading_pkey is used.
--
-- Indexes: reading_user_id_category_start_at_id_idx, reading_count_pkey.
-- Values:  $1 user, $2 category, $3 metric types, $4 limit, $5 offset, $6 and $7 bounds of the window,
--          $8 to $10 span by which it is counted, and bounds, $11 and $12 bounds of the edges.
WITH
part AS (
  SELECT start_at, CASE $8 WHEN 'day' THEN start_at + interval '1 day' ELSE 'infinity' END AS end_at, sum(count)::int AS number
  FROM reading_count
  WHERE user_id = $1 AND type = ANY($3) AND span = $8 AND start_at >= $9 AND start_at < $10
  GROUP BY start_at
  UNION ALL
  SELECT lower, upper, number
  FROM unnest($11::timestamptz[], $12::timestamptz[]) AS edge(lower, upper)
  CROSS JOIN LATERAL (
    SELECT count(*)::int AS number
    FROM reading
    WHERE user_id = $1 AND category = $2 AND start_at >= lower AND start_at < upper
  ) AS at_edge
),
ranked_part AS (
  SELECT *, sum(number) OVER (ORDER BY start_at DESC) - number AS before
  FROM part
),
total AS (
  SELECT coalesce(sum(number), 0) AS total
  FROM part
),
-- The part that holds the row behind $5 others.
found_part AS (
  SELECT end_at, before
  FROM ranked_part
  WHERE before <= $5 AND before + number > $5
  LIMIT 1
),
newest AS (
  SELECT id, type, value, source, start_at, end_at
  FROM reading
  WHERE user_id = $1 AND category = $2 AND start_at >= $6 AND start_at < $7 AND start_at < (SELECT end_at FROM found_part)
  ORDER BY start_at DESC
  FETCH FIRST ($4::bigint + $5 - (SELECT before FROM found_part)) ROWS WITH TIES
),
page AS (
  SELECT *
  FROM newest
  ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
  LIMIT $4::bigint OFFSET $5 - (SELECT before FROM found_part)
)
SELECT id, type, value, source, start_at, total
FROM total
LEFT JOIN page ON true
ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id;
