-- The last of the next users who have changes, or null: the end of a range for prune-changes-of-range.sql.
--
-- Indexes: reading_change_user_id_at_number_idx.
-- Values:  $1 the user after whom the range begins, $2 most users.
SELECT max(user_id) AS last
FROM (SELECT DISTINCT user_id FROM reading_change WHERE user_id > $1 ORDER BY user_id LIMIT $2) AS page;
