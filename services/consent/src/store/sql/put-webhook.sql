-- Creates the endpoint of an own app, or changes and enables the existing one, which keeps id and secret.
--
-- Indexes: app_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 app, $2 its owner, $3 id of a new endpoint, $4 URL, $5 events.
INSERT INTO webhook_endpoint AS w (id, client_id, url, events)
SELECT $3, a.client_id, $4, $5::text[]
FROM app a
WHERE a.client_id = $1 AND a.owner_id = $2
ON CONFLICT (client_id) DO UPDATE SET url = excluded.url, events = excluded.events, disabled_reason = NULL,
  failures = 0, failing_since = NULL, retry_at = NULL, updated_at = statement_timestamp()
RETURNING w.id, w.secret_version AS "secretVersion",
-- include: parts/webhook-columns.sql
