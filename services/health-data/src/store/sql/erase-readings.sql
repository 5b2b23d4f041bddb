-- Erases so many readings of a person and takes them off reading_count, where a count of 0 is removed. Answers how many
-- there were.
--
-- In the order of the primary key, because neighbours share their counts, and up to the last of so many.
--
-- Indexes: reading_pkey, reading_count_pkey.
-- Values:  $1 user, $2 most rows.
WITH
written AS (
  DELETE FROM reading
  WHERE user_id = $1 AND (type, start_at, id) <= (
    SELECT type, start_at, id
    FROM (SELECT type, start_at, id FROM reading WHERE user_id = $1 ORDER BY type, start_at, id LIMIT $2) AS piece
    ORDER BY type DESC, start_at DESC, id DESC
    LIMIT 1
  )
  RETURNING type, start_at
),
-- include: parts/lowered-counts.sql
erased AS (
  SELECT count(*)::int AS number
  FROM written
)
SELECT number
FROM erased;
