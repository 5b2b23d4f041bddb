-- The number of readings that readings-newest-spans.sql finds without a limit. Those of the paired types count once for
-- each time and source. Null for too many, because counting them takes long. OFFSET 0 keeps the index scan of each subject.
--
-- Indexes: reading_user_id_category_start_at_id_idx.
-- Values:  $1 to $7 as there, $8 paired types, $9 number of rows that are too many.
SELECT CASE WHEN count(*) < $9 THEN count(*) FILTER (WHERE type <> ALL ($8::text[]))
  + count(DISTINCT (start_at, end_at, source)) FILTER (WHERE type = ANY ($8::text[])) END AS total
FROM (
  SELECT found.*
  FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[]) AS query(subject, avoided, lower, upper)
  CROSS JOIN LATERAL (
    SELECT type, start_at, end_at, source
    FROM reading
    WHERE user_id = $1 AND category = query.subject AND start_at >= query.lower AND start_at < query.upper
      AND end_at >= $6 AND end_at < $7 AND source IS DISTINCT FROM query.avoided
    OFFSET 0
  ) AS found
  LIMIT $9
) AS counted;
