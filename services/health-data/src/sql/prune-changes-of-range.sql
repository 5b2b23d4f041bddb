-- As prune-changes.sql, of all people of a range, where the rows are distributed: each server deletes those of its people.
--
-- Indexes: reading_change_user_id_at_number_idx, reading_change_pkey.
-- Values:  $1 and $2 the range of users, without the first, $3 the time.
DELETE FROM reading_change AS change
USING (
  SELECT latest.user_id, latest.number
  FROM (SELECT DISTINCT user_id FROM reading_change WHERE user_id > $1 AND user_id <= $2) AS changed
  CROSS JOIN LATERAL (
    SELECT user_id, number
    FROM reading_change
    WHERE user_id = changed.user_id AND at < $3
    ORDER BY at DESC, number DESC
    LIMIT 1
  ) AS latest
) AS kept
WHERE change.user_id = kept.user_id AND change.number < kept.number AND change.reported;
