-- The last checkpoint, and whether it is of the current interval by the clock of the database.
--
-- Indexes: access_checkpoint_pkey.
-- Values:  $1 milliseconds of an interval; null when it does not matter.
SELECT number, jws, at, coalesce(floor(extract(epoch FROM at) * 1000 / $1::numeric)
  = floor(extract(epoch FROM statement_timestamp()) * 1000 / $1::numeric), false) AS "isTaken"
FROM consent_audit.access_checkpoint
ORDER BY number DESC
LIMIT 1;
