-- A page of the readings of a category in a window, newest first, each row with the total of the window. A single row
-- without an id when the page is empty.
--
-- For pages near the top: the rows before the page are skipped one by one. The total comes from reading_count for whole
-- years, months, days and hours; readings are counted only at the edges of the window, less than an hour each.
--
-- For one metric type, pg-readings.ts compares the type instead of the category; then reading_pkey is used.
--
-- Indexes: reading_user_id_category_start_at_id_idx, reading_count_pkey.
-- Values:  $1 user, $2 category, $3 metric types, $4 limit, $5 offset, $6 and $7 bounds of the window,
--          $8 to $10 whole spans: name and bounds, $11 and $12 bounds of the edges.
WITH
counted AS (
  SELECT sum(count) AS number
  FROM unnest($8::text[], $9::timestamptz[], $10::timestamptz[]) AS whole(name, lower, upper)
  CROSS JOIN LATERAL (
    SELECT count
    FROM reading_count
    WHERE user_id = $1 AND type = ANY($3) AND span = name AND start_at >= lower AND start_at < upper
    OFFSET 0
  ) AS kept
  UNION ALL
  SELECT number
  FROM unnest($11::timestamptz[], $12::timestamptz[]) AS edge(lower, upper)
  CROSS JOIN LATERAL (
    SELECT count(*) AS number
    FROM reading
    WHERE user_id = $1 AND category = $2 AND start_at >= lower AND start_at < upper
  ) AS at_edge
),
total AS (
  SELECT coalesce(sum(number), 0) AS total
  FROM counted
),
newest AS (
  SELECT id, type, value, source, start_at, end_at
  FROM reading
  WHERE user_id = $1 AND category = $2 AND start_at >= $6 AND start_at < $7
  ORDER BY start_at DESC
  FETCH FIRST ($4::bigint + $5) ROWS WITH TIES
),
page AS (
  SELECT *
  FROM newest
  ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
  LIMIT $4::bigint OFFSET $5
)
SELECT id, type, value, source, start_at, total
FROM total
LEFT JOIN page ON true
ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id;
