-- Adds the event of an approval for the deployment: the connection began, or was changed. After the approval, in its transaction.
--
-- Indexes: consent_grant_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 grant, $2 type, $3 content.
WITH announced AS (
  SELECT g.*, NULL::text AS app_event, $2::text AS host_event, $3::jsonb AS content
  FROM consent_grant g
  WHERE g.id = $1
)
-- include: parts/insert-events.sql
