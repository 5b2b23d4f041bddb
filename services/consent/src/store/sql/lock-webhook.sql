-- Locks the endpoint of an own app, so that the tests that are added to it are counted exactly.
--
-- Indexes: app_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 app, $2 its owner.
SELECT w.id
FROM webhook_endpoint w
JOIN app a ON a.client_id = w.client_id
WHERE a.client_id = $1 AND a.owner_id = $2
FOR NO KEY UPDATE OF w;
