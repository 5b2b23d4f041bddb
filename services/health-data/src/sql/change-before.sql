-- The last change of a person before a time.
--
-- Indexes: reading_change_user_id_at_number_idx.
-- Values:  $1 user, $2 time.
SELECT number, at
FROM reading_change
WHERE user_id = $1 AND at < $2
ORDER BY at DESC, number DESC
LIMIT 1;
