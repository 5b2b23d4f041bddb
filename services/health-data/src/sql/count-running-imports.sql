-- How many running imports, of everybody, have reported since a time. The state is no parameter, so that the partial index
-- can be used.
--
-- Indexes: import_running_idx.
-- Values:  $1 the time.
SELECT count(*)::int AS running
FROM import
WHERE state = 'running' AND reported_at >= $1;
