-- Ends the work on a revoked app whose grants have made their events.
--
-- Indexes: webhook_fanout_pkey.
-- Values:  $1 app, $2 when it was revoked.
DELETE FROM webhook_fanout
WHERE client_id = $1 AND ended_at = $2;
