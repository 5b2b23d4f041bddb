-- How many events an endpoint has.
--
-- Indexes: webhook_event_endpoint_id_number_idx.
-- Values:  $1 endpoint, $2 state or null.
SELECT count(*)::int AS total
FROM webhook_event v
WHERE v.endpoint_id = $1 AND ($2::text IS NULL OR v.state = $2);
