-- Changes that wait to be reported and that nobody has claimed. Those that another instance is claiming are left to it.
--
-- Indexes: reading_change_waiting_idx.
-- Values:  $1 limit.
WITH
waiting AS (
-- include: parts/waiting-changes.sql
  FOR UPDATE SKIP LOCKED
),
-- include: parts/changes-in-turn.sql
