-- Newest pages of readings of a category, for several queries at once. One row for each query, in their order: the total, and
-- the page as a JSON array of texts, one for each reading; null when there is no reading.
--
-- The hottest statement. One row of JSON costs the client much less than twenty rows, and a text for each reading costs
-- Postgres less than an array. The source is the last field, because no other one could contain
-- the separator. The index returns readings by start; only those up to the end of the page, with all that start together
-- with the last one (WITH TIES), are sorted. json_agg repeats the order, because SQL does not promise that it keeps that
-- of its input; the plan sorts once.
--
-- For one metric type, readings.ts compares the type instead of the category; then reading_pkey is used.
--
-- Indexes: reading_user_id_category_start_at_id_idx, reading_count_pkey.
-- Values:  arrays with one element for each query: $1 users, $2 categories, $3 metric types (each an array as text),
--          $4 limits, $5 offsets.
SELECT
  (
    SELECT coalesce(sum(count), 0)
    FROM reading_count
    WHERE user_id = query.user_id AND type = ANY(query.types::text[]) AND span = 'all' AND start_at = '-infinity'
  ) AS total,
  (
    SELECT json_agg(
      id || '|' || type || '|' || coalesce(value::text, '') || '|' || start_at || '|' || source
      ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
    )
    FROM (
      SELECT *
      FROM (
        SELECT id, type, value, source, start_at, end_at
        FROM reading
        WHERE user_id = query.user_id AND category = query.subject
        ORDER BY start_at DESC
        FETCH FIRST (query.skipped + query.size) ROWS WITH TIES
      ) AS newest
      ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
      LIMIT query.size OFFSET query.skipped
    ) AS page
  ) AS page
FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) WITH ORDINALITY
  AS query(user_id, subject, types, size, skipped, ordinal)
ORDER BY query.ordinal;
