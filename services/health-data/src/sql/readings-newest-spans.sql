-- The newest readings of several categories of a person together, with the end of each: a JSON array of texts, as in
-- readings-newest.sql; null when there is none. All that start together with the last one are among them, so that a page
-- may end at any of them. Bounds of the start are those of each subject, bounds of the end those of all.
--
-- For metric types, fhir/reading-spans.ts compares the type instead of the category; then reading_pkey is used.
--
-- Indexes: reading_user_id_category_start_at_id_idx.
-- Values:  $1 user, arrays with one element for each subject: $2 categories, $3 sources to leave out (or null), $4 and $5
--          bounds of the start; $6 and $7 bounds of the end, $8 limit.
SELECT json_agg(
  id || '|' || type || '|' || coalesce(value::text, '') || '|' || start_at || '|' || end_at || '|' || source
) AS page
FROM (
  SELECT newest.*
  FROM unnest($2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[]) AS query(subject, avoided, lower, upper)
  CROSS JOIN LATERAL (
    SELECT id, type, value, source, start_at, end_at
    FROM reading
    WHERE user_id = $1 AND category = query.subject AND start_at >= query.lower AND start_at < query.upper
      AND end_at >= $6 AND end_at < $7 AND source IS DISTINCT FROM query.avoided
    ORDER BY start_at DESC
    FETCH FIRST ($8::bigint) ROWS WITH TIES
  ) AS newest
  ORDER BY start_at DESC
  FETCH FIRST ($8::bigint) ROWS WITH TIES
) AS page;
