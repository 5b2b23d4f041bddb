-- Adds connection.ending for those of the grants that are live. Not for an end that was set less than twice as long ahead: its person chose
-- it recently.
--
-- Indexes: consent_grant_pkey, app_pkey, webhook_endpoint_client_id_key, consent_event_grant_id_at_idx.
-- Values:  $1 grants, $2 days before the end.
WITH announced AS (
  SELECT g.*, NULL::text AS app_event, 'connection.ending' AS host_event, jsonb_build_object(
    'expiresAt', to_char(g.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'daysLeft', $2::int
  ) AS content
  FROM consent_grant g
  JOIN app a ON a.client_id = g.client_id
  WHERE g.id = ANY($1::text[])
    AND g.revoked_at IS NULL AND g.app_epoch = a.epoch AND g.expires_at > statement_timestamp()
    AND g.expires_at - make_interval(hours => 2 * 24 * $2::int) > coalesce(
      (SELECT min(v.at) FROM consent_event v WHERE v.grant_id = g.id AND v.expires_at = g.expires_at), g.granted_at)
  ORDER BY g.id
  FOR KEY SHARE OF g
)
-- include: parts/insert-events.sql
