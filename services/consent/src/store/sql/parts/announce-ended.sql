-- The events of the grants `ended`, as their rows are now. For one that had expired before,
-- the search for expired grants adds them (announce-expired.sql).
announced AS (
  SELECT g.*, 'grant.revoked' AS app_event, 'connection.ended' AS host_event,
    jsonb_build_object('endedBy', coalesce(g.revoked_by, 'person')) AS content
  FROM ended g
  WHERE g.expires_at > g.revoked_at
),
notified AS (
-- include: insert-events.sql
)
