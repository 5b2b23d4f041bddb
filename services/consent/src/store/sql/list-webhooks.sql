-- A page of the endpoints of all apps and of the deployment, with the numbers of their undelivered events. Those in trouble first.
--
-- Indexes: none for the endpoints, all of which it reads; app_pkey, and webhook_event_undelivered_idx for their events.
-- Values:  $1 size of the page, $2 offset.
SELECT w.paused_at AS "pausedAt", a.profile->>'name' AS "appName", e.pending, e.failed,
-- include: parts/webhook-columns.sql
FROM webhook_endpoint w
LEFT JOIN app a ON a.client_id = w.client_id
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
    count(*) FILTER (WHERE state = 'failed')::int AS failed
  FROM webhook_event
  WHERE endpoint_id = w.id AND state <> 'delivered'
) e
ORDER BY (w.disabled_reason IS NULL AND w.paused_at IS NULL AND w.failing_since IS NULL), w.created_at DESC, w.id
LIMIT $1 OFFSET $2;
