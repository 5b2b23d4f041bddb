-- Stores how far the events of the grants of a revoked app have got.
--
-- Indexes: webhook_fanout_pkey.
-- Values:  $1 app, $2 when it was revoked, $3 and $4 the place.
UPDATE webhook_fanout SET place_at = $3, place_id = $4
WHERE client_id = $1 AND ended_at = $2;
