-- Tells apps and the deployment that the live grants of a person have ended.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, app_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 person.
WITH announced AS (
  SELECT g.*, 'grant.revoked' AS app_event, 'connection.ended' AS host_event,
    jsonb_build_object('endedBy', 'person') AS content
  FROM grant_with_status g
  WHERE g.user_id = $1 AND g.live
)
-- include: parts/insert-events.sql
