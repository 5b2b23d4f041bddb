-- Adds data.updated for the live grants that share a changed category and, with a day's margin for time zones, the time of a changed reading.
-- The lock keeps a grant from being erased until the commit. Postgres checks the unique index of unsent events again after it has waited for a
-- sender, so a change is never added to an event that is being sent.
--
-- Indexes: consent_grant_open_key, webhook_endpoint_client_id_key, app_pkey, webhook_event_grant_id_number_idx,
--          webhook_event_unsent_data_key.
-- Values:  $1 to $5 the changes: person, category, scope, time, time of the latest reading; $6 seconds for which an event collects changes,
--          $7 seconds from one event of a grant to the next.
INSERT INTO webhook_event AS e (endpoint_id, grant_id, sub_hash, type, content, next_attempt_at, started_at)
SELECT w.id, g.id, sub_hash(g.user_ref, g.client_id), 'data.updated', c.content, due.at, due.at
FROM consent_grant g
JOIN webhook_endpoint w ON w.client_id = g.client_id AND 'data.updated' = ANY(w.events) AND w.disabled_reason IS NULL
JOIN app a ON a.client_id = g.client_id AND a.status = 'active'
CROSS JOIN LATERAL (
  SELECT jsonb_build_object('categories', jsonb_agg(DISTINCT n.category),
    'lastDataAt', to_char(max(n.at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) AS content
  FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[])
    AS n(user_id, category, scope, at, latest_reading_at)
  WHERE n.user_id = g.user_id AND n.scope = ANY(g.scopes)
    AND (g.data_from IS NULL OR n.latest_reading_at >= g.data_from - interval '1 day')
  HAVING count(*) > 0
) c
CROSS JOIN LATERAL (
  SELECT greatest(statement_timestamp() + make_interval(secs => $6::double precision), (
    SELECT l.started_at + make_interval(secs => $7::double precision)
    FROM webhook_event l
    WHERE l.grant_id = g.id AND l.type = 'data.updated'
    ORDER BY l.number DESC LIMIT 1
  )) AS at
) due
WHERE g.user_id = ANY($1::text[]) AND g.closed_at IS NULL
  AND g.revoked_at IS NULL AND g.app_epoch = a.epoch AND g.expires_at > statement_timestamp()
ORDER BY g.id
FOR KEY SHARE OF g
ON CONFLICT (grant_id) WHERE type = 'data.updated' AND state = 'pending' AND attempts = 0
DO UPDATE SET endpoint_id = excluded.endpoint_id, content = jsonb_build_object(
  'categories', (SELECT jsonb_agg(DISTINCT each) FROM jsonb_array_elements(
    (e.content->'categories') || (excluded.content->'categories')) each),
  'lastDataAt', greatest(e.content->>'lastDataAt', excluded.content->>'lastDataAt'));
