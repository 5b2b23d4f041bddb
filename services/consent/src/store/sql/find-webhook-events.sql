-- An endpoint, with the number of its latest event.
--
-- Indexes: webhook_endpoint_client_id_key, webhook_event_endpoint_id_number_idx.
-- Values:  $1 app, or endpoint of the deployment.
SELECT w.id, coalesce((SELECT max(e.number) FROM webhook_event e WHERE e.endpoint_id = w.id), 0)::text AS last
FROM webhook_endpoint w
WHERE w.client_id = $1 OR (w.client_id IS NULL AND w.id = $1);
