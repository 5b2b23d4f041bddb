-- Deletes changes from before a time that are reported, of the next users who have changes. The latest of each user before
-- that time stays, so that every later cursor finds the change that was the latest when it was made. Answers the last of
-- these users, and how many changes were deleted; a full number means that more may be left of the same users.
-- Changes that another process is deleting are left to it.
--
-- The key leads from one user to the next. Changes of a user before the time are found by a second index, so users
-- without any cost two probes.
--
-- Indexes: reading_change_pkey, reading_change_user_id_at_number_idx.
-- Values:  $1 the user after whom the walk goes on, $2 the time, $3 most changes, $4 most users.
WITH RECURSIVE
changed(user_id) AS (
  (SELECT user_id FROM reading_change WHERE user_id > $1 ORDER BY user_id LIMIT 1)
  UNION ALL
  SELECT (SELECT user_id FROM reading_change WHERE user_id > changed.user_id ORDER BY user_id LIMIT 1)
  FROM changed
  WHERE changed.user_id IS NOT NULL
),
page AS (
  SELECT user_id
  FROM changed
  WHERE user_id IS NOT NULL
  LIMIT $4
),
old AS (
  SELECT kept.user_id, gone.number
  FROM page
  CROSS JOIN LATERAL (
    SELECT user_id, number
    FROM reading_change
    WHERE user_id = page.user_id AND at < $2
    ORDER BY at DESC, number DESC
    LIMIT 1
  ) AS kept
  CROSS JOIN LATERAL (
    SELECT number
    FROM reading_change
    WHERE user_id = kept.user_id AND number < kept.number AND reported
    ORDER BY number
    LIMIT $3
    FOR UPDATE SKIP LOCKED
  ) AS gone
  LIMIT $3
),
deleted AS (
  DELETE FROM reading_change AS change
  USING old
  WHERE change.user_id = old.user_id AND change.number = old.number
  RETURNING 1
)
SELECT (SELECT max(user_id) FROM page) AS last, (SELECT count(*)::int FROM deleted) AS deleted;
