-- As take-changes.sql, where the rows are distributed: Citus locks no rows of several servers, so lock-reports.sql lets
-- one instance claim at a time.
--
-- Indexes: reading_change_waiting_idx.
-- Values:  $1 limit.
WITH
waiting AS (
-- include: parts/waiting-changes.sql
),
-- include: parts/changes-in-turn.sql
