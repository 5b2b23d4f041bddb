-- As take-changes.sql, where the rows are distributed: Citus locks no rows of several servers, so lock-reports.sql lets
-- one instance claim at a time.
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
),
-- include: parts/changes-in-turn.sql
