-- Begins an import, or goes on with it at its last report; one that had finished, or that is to start again, begins a
-- new run. The condition of a new run stands in each column, because only there an upsert sees the row.
--
-- Indexes: import_pkey.
-- Values:  $1 user, $2 format, $3 digest, $4 size, $5 whether to start again, $6 now.
INSERT INTO import (user_id, format, digest, size, state, run, position, report, started_at, reported_at)
VALUES ($1, $2, $3, $4, 'running', 1, 0, '', $6, $6)
ON CONFLICT (user_id, format, digest) DO UPDATE SET
  state       = 'running',
  run         = CASE WHEN import.state = 'finished' OR $5::boolean THEN import.run + 1 ELSE import.run END,
  position    = CASE WHEN import.state = 'finished' OR $5::boolean THEN 0 ELSE import.position END,
  report      = CASE WHEN import.state = 'finished' OR $5::boolean THEN '' ELSE import.report END,
  started_at  = CASE WHEN import.state = 'finished' OR $5::boolean THEN $6 ELSE import.started_at END,
  reported_at = $6
RETURNING run, position, report;
