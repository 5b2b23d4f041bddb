-- The endpoint of an own app.
--
-- Indexes: app_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 app, $2 its owner.
SELECT w.id, w.secret_version AS "secretVersion",
-- include: parts/webhook-columns.sql
FROM webhook_endpoint w
JOIN app a ON a.client_id = w.client_id
WHERE a.client_id = $1 AND a.owner_id = $2;
