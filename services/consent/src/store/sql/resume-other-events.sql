-- Makes events other than data.updated due that wait for their next attempt, not before their own time, unless their endpoint fails again.
--
-- Indexes: webhook_event_due_other_idx, webhook_endpoint_pkey, webhook_event_pkey.
-- Values:  $1 endpoint, $2 number of events.
UPDATE webhook_event SET next_attempt_at = statement_timestamp()
WHERE id = ANY(ARRAY(
  SELECT e.id
  FROM webhook_event e
  JOIN webhook_endpoint w ON w.id = e.endpoint_id AND w.failures = 0
  WHERE e.endpoint_id = $1 AND e.state = 'pending' AND e.type <> 'data.updated' AND e.lease IS NULL
    AND e.next_attempt_at > statement_timestamp() AND e.started_at <= statement_timestamp()
  ORDER BY e.next_attempt_at
  LIMIT $2
  FOR UPDATE OF e SKIP LOCKED
));
