-- How many undecided requests an app has open that it authenticated and nobody extended, and in how many seconds the
-- first one ends.
--
-- Indexes: pending_approval_client_id_expires_at_idx.
-- Values:  $1 app, $2 its epoch.
SELECT count(*)::int AS count, ceil(extract(epoch FROM min(expires_at) - statement_timestamp()))::int AS wait
FROM pending_approval
WHERE client_id = $1 AND expires_at > statement_timestamp() AND decision IS NULL
  AND client_authenticated AND app_epoch = $2 AND extensions = 0;
