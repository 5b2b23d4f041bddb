-- The newest readings of a category, each row with the total. No row when there is no reading.
--
-- The hottest statement. The total is computed once, as a subquery, and travels in each row: a second statement would
-- cost more than twenty small numbers. The index returns readings by start; only those up to the end of the page, with
-- all that start together with the last one (WITH TIES), are sorted.
--
-- For one metric type, pg-readings.ts compares the type instead of the category; then reading_pkey is used.
--
-- Indexes: reading_user_id_category_start_at_id_idx, reading_count_pkey.
-- Values:  $1 user, $2 category, $3 metric types, $4 limit.
WITH
newest AS (
  SELECT id, type, value, source, start_at, end_at
  FROM reading
  WHERE user_id = $1 AND category = $2
  ORDER BY start_at DESC
  FETCH FIRST ($4::bigint) ROWS WITH TIES
)
SELECT id, type, value, source, start_at,
  (
    SELECT coalesce(sum(count), 0)
    FROM reading_count
    WHERE user_id = $1 AND type = ANY($3) AND span = 'all' AND start_at = '-infinity'
  ) AS total
FROM newest
ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
LIMIT $4::bigint;
