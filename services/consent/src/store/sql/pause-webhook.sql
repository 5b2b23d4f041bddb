-- Pauses the delivery to an endpoint, or resumes it. One that is paused keeps its time.
--
-- Indexes: webhook_endpoint_client_id_key.
-- Values:  $1 app, or endpoint of the deployment; $2 whether it is paused.
UPDATE webhook_endpoint w SET paused_at = CASE WHEN $2::boolean THEN coalesce(paused_at, statement_timestamp()) END
WHERE w.client_id = $1 OR (w.client_id IS NULL AND w.id = $1);
