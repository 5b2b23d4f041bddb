-- Adds the events of those of the grants that expired before they were revoked or their app was.
--
-- Indexes: consent_grant_pkey, app_epoch_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 grants.
WITH announced AS (
  SELECT g.*, 'grant.expired' AS app_event, 'connection.ended' AS host_event,
    jsonb_build_object('endedBy', 'expiry') AS content
  FROM consent_grant g
  LEFT JOIN app_epoch e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1
  WHERE g.id = ANY($1::text[])
    AND g.expires_at <= coalesce(g.revoked_at, 'infinity') AND g.expires_at <= coalesce(e.started_at, 'infinity')
  ORDER BY g.id
  FOR KEY SHARE OF g
)
-- include: parts/insert-events.sql
