-- The newest reading of a category that has a value.
--
-- Indexes: reading_user_id_category_start_at_id_idx.
-- Values:  $1 user, $2 category.
SELECT id, type, start_at AS start, end_at AS "end", value, source
FROM reading
WHERE user_id = $1 AND category = $2 AND value IS NOT NULL
ORDER BY start_at DESC, id DESC
LIMIT 1;
