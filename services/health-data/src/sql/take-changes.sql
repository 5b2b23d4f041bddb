-- Changes that wait to be reported and that nobody has claimed. Those that another instance is claiming are left to it.
--
-- Indexes: reading_change_waiting_idx.
-- Values:  $1 limit.
WITH
waiting AS (
  SELECT user_id, number, at, categories
  FROM reading_change
  WHERE NOT reported AND (claimed_until IS NULL OR claimed_until < statement_timestamp())
  ORDER BY at, user_id, number
  LIMIT 500
  FOR UPDATE SKIP LOCKED
),
-- include: parts/changes-in-turn.sql
