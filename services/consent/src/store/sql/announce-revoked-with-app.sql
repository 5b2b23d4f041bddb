-- Adds the events of those of the grants that ended with their app at this time, and were live then.
--
-- Indexes: consent_grant_pkey, app_epoch_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 grants, $2 when their app was revoked.
WITH announced AS (
  SELECT g.*, 'grant.revoked' AS app_event, 'connection.ended' AS host_event,
    jsonb_build_object('endedBy', 'developer') AS content
  FROM consent_grant g
  JOIN app_epoch e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1 AND e.started_at = $2
  WHERE g.id = ANY($1::text[]) AND g.expires_at > $2 AND coalesce(g.revoked_at, 'infinity') > $2
  ORDER BY g.id
  FOR KEY SHARE OF g
)
-- include: parts/insert-events.sql
