-- Replaces the terms of a locked grant by narrower ones, and adds the events.
--
-- Indexes: consent_grant_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 grant, $2 to $4 the terms: scopes, end, start of the data or null; $5 the event of the deployment or null, $6 content.
WITH
narrowed AS (
  UPDATE consent_grant SET scopes = $2::text[], expires_at = $3, data_from = $4::date
  WHERE id = $1
  RETURNING *
),
announced AS (
  SELECT g.*, 'grant.narrowed' AS app_event, $5::text AS host_event, $6::jsonb AS content
  FROM narrowed g
)
-- include: parts/insert-events.sql
