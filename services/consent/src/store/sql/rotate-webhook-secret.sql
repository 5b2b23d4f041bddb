-- Makes the next secret of the endpoint of an own app the current one; the one before signs as well for a while.
--
-- Indexes: app_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 app, $2 its owner, $3 seconds for which both sign.
UPDATE webhook_endpoint w SET secret_version = w.secret_version + 1, updated_at = statement_timestamp(),
  previous_secret_until = CASE WHEN $3::int > 0 THEN statement_timestamp() + make_interval(secs => $3::int) END
FROM app a
WHERE a.client_id = w.client_id AND a.client_id = $1 AND a.owner_id = $2
RETURNING w.id, w.secret_version AS "secretVersion",
-- include: parts/webhook-columns.sql
