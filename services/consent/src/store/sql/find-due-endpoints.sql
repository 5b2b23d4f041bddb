-- Endpoints with due events. Those with others than data.updated come first, else at random.
--
-- Indexes: none for the endpoints, all of which it reads; webhook_event_due_other_idx and webhook_event_due_data_idx for their events.
-- Values:  $1 number of endpoints.
SELECT w.id
FROM webhook_endpoint w
CROSS JOIN LATERAL (
  SELECT EXISTS (
    SELECT FROM webhook_event e
    WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type <> 'data.updated'
      AND e.next_attempt_at <= statement_timestamp()
  ) AS is_urgent
) u
WHERE w.disabled_reason IS NULL AND w.paused_at IS NULL AND (w.retry_at IS NULL OR w.retry_at <= statement_timestamp())
  AND (u.is_urgent OR EXISTS (
    SELECT FROM webhook_event e
    WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type = 'data.updated'
      AND e.next_attempt_at <= statement_timestamp()
  ))
ORDER BY u.is_urgent DESC, random()
LIMIT $1;
