-- The newest readings of a category with the end of each, for several queries at once. One row for each query, in their order:
-- a JSON array of texts, as in readings-newest-spans.sql, which answers a query of several categories or with other bounds.
--
-- For one metric type, fhir/reading-spans.ts compares the type instead of the category; then reading_pkey is used.
--
-- Indexes: reading_user_id_category_start_at_id_idx.
-- Values:  arrays with one element for each query: $1 users, $2 categories, $3 first starts, $4 limits.
SELECT (
  SELECT json_agg(
    id || '|' || type || '|' || coalesce(value::text, '') || '|' || start_at || '|' || end_at || '|' || source
  )
  FROM (
    SELECT id, type, value, source, start_at, end_at
    FROM reading
    WHERE user_id = query.user_id AND category = query.subject AND start_at >= query.since
    ORDER BY start_at DESC
    FETCH FIRST (query.size) ROWS WITH TIES
  ) AS newest
) AS page
FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::bigint[]) WITH ORDINALITY
  AS query(user_id, subject, since, size, ordinal)
ORDER BY query.ordinal;
