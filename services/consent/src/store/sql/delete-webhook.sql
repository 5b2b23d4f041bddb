-- Removes the endpoint of an app. Its events are not sent any more, because no endpoint has their id; they are pruned by their age.
--
-- Indexes: webhook_endpoint_client_id_key.
-- Values:  $1 app.
DELETE FROM webhook_endpoint
WHERE client_id = $1;
