-- Erases so many readings of a person and takes them off reading_count, where a count of 0 is removed. Answers how many
-- there were.
--
-- The lock of the user keeps rows where they are, so they are found by ctid; in the order of the primary key, because
-- neighbours share their counts.
--
-- Indexes: reading_pkey, reading_count_pkey.
-- Values:  $1 user, $2 most rows.
WITH
written AS (
  DELETE FROM reading
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM reading WHERE user_id = $1 ORDER BY type, start_at, id LIMIT $2))
  RETURNING type, start_at
),
-- include: parts/lowered-counts.sql
erased AS (
  SELECT count(*)::int AS number
  FROM written
)
SELECT number
FROM erased;
