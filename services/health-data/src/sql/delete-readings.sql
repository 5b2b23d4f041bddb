-- Deletes readings by their keys and takes them off reading_count, where a count of 0 is removed. Answers as
-- put-readings.sql; none is inserted. The change is numbered as there, and each reading moves to deleted_reading.
--
-- Indexes: reading_pkey, reading_count_pkey, reading_change_pkey.
-- Values:  $1 user, $2 types that count by their end, $3 to $5 keys: type, start and id.
WITH
-- include: parts/next-change.sql
written AS (
  DELETE FROM reading
  WHERE user_id = $1 AND (type, start_at, id) IN (SELECT * FROM unnest($3::text[], $4::timestamptz[], $5::uuid[]))
  RETURNING id, type, category, start_at, end_at, source, false AS inserted
),
-- include: parts/deleted-readings.sql
