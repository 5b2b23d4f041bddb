-- Deletes readings of a metric type from a key (inclusive) to a key (exclusive), of one source or of all, and takes
-- them off reading_count, where a count of 0 is removed. Answers as put-readings.sql; none is inserted. The change is
-- numbered as there, and each reading moves to deleted_reading.
--
-- Indexes: reading_pkey, reading_count_pkey, reading_change_pkey.
-- Values:  $1 user, $2 types that count by their end, $3 metric type, $4 source or null, $5 to $8 first key and end:
--          start and id.
WITH
-- include: parts/next-change.sql
written AS (
  DELETE FROM reading
  WHERE user_id = $1 AND type = $3 AND ($4::text IS NULL OR source = $4)
    AND (start_at, id) >= ($5::timestamptz, $6::uuid) AND (start_at, id) < ($7::timestamptz, $8::uuid)
  RETURNING id, type, category, start_at, end_at, source, false AS inserted
),
-- include: parts/deleted-readings.sql
