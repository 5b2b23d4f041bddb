-- The pending events of endpoints that are sent to, and for how long the oldest has been due: of the deployment, since its first attempt; of
-- apps, of endpoints that do not fail.
--
-- Indexes: none. Reads all pending events.
SELECT count(*)::int AS pending,
  (extract(epoch FROM statement_timestamp()
    - min(CASE WHEN w.client_id IS NULL THEN e.started_at ELSE e.next_attempt_at END)
      FILTER (WHERE w.client_id IS NULL OR (e.next_attempt_at <= statement_timestamp() AND w.failures = 0)))
    * 1000)::double precision AS "oldestDueMs"
FROM webhook_event e
JOIN webhook_endpoint w ON w.id = e.endpoint_id
WHERE e.state = 'pending' AND w.disabled_reason IS NULL AND w.paused_at IS NULL;
