-- Erases so many readings of a person and takes them off reading_count, where a count of 0 is removed. Answers as
-- put-readings.sql; none is inserted.
--
-- In the order of the primary key, because neighbours share their counts, and up to the last of so many.
--
-- Indexes: reading_pkey, reading_count_pkey.
-- Values:  $1 user, $2 types that count by their end, $3 most rows.
WITH
written AS (
  DELETE FROM reading
  WHERE user_id = $1 AND (type, start_at, id) <= (
    SELECT type, start_at, id
    FROM (SELECT type, start_at, id FROM reading WHERE user_id = $1 ORDER BY type, start_at, id LIMIT $3) AS piece
    ORDER BY type DESC, start_at DESC, id DESC
    LIMIT 1
  )
  RETURNING type, start_at, end_at, source, false AS inserted
),
-- include: parts/lowered-counts.sql
-- include: parts/touched-quarters.sql
