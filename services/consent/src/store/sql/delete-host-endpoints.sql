-- Removes the endpoints of the deployment except some. Their events are not sent any more.
--
-- Indexes: webhook_endpoint_client_id_key.
-- Values:  $1 endpoints that stay.
DELETE FROM webhook_endpoint
WHERE client_id IS NULL AND id <> ALL($1::text[]);
