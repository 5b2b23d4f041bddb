-- Notes that a person asks the app of a grant to delete what it has read, unless they have asked before, and tells the
-- app.
--
-- Indexes: consent_grant_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 grant, $2 person.
WITH
requested AS (
  UPDATE consent_grant SET deletion_requested_at = clock_timestamp()
  WHERE id = $1 AND user_id = $2 AND deletion_requested_at IS NULL
  RETURNING *
),
told AS (
  INSERT INTO consent_event (id, grant_id, at, kind, scopes, expires_at, data_from)
  SELECT gen_random_uuid(), id, deletion_requested_at, 'deletion_requested', scopes, expires_at, data_from
  FROM requested
),
announced AS (
  SELECT g.*, 'grant.deletion_requested' AS app_event, NULL::text AS host_event,
    jsonb_build_object(
      'requestedAt', to_char(g.deletion_requested_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ) AS content
  FROM requested g
),
notified AS (
-- include: parts/insert-events.sql
)
SELECT deletion_requested_at AS at FROM requested;
