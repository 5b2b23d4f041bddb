-- Makes an event of an own app due. With a new number, unless it is pending, so that it neither overtakes nor delays the pending events of its
-- grant. It counts as sent before, so that no change is added to it: the receiver may know its id already. An attempt in progress goes on.
--
-- Indexes: webhook_event_pkey, webhook_endpoint_client_id_key, app_pkey.
-- Values:  $1 app, $2 its owner, $3 event.
UPDATE webhook_event e SET
  number = CASE WHEN e.state = 'pending' THEN e.number
    ELSE nextval(pg_get_serial_sequence('webhook_event', 'number')) END,
  state = 'pending', attempts = greatest(1, CASE WHEN e.state = 'pending' THEN e.attempts ELSE 1 END),
  next_attempt_at = CASE WHEN e.lease IS NULL THEN statement_timestamp() ELSE e.next_attempt_at END,
  started_at = CASE WHEN e.state = 'pending' THEN e.started_at ELSE statement_timestamp() END
FROM webhook_endpoint w
JOIN app a ON a.client_id = w.client_id
WHERE e.id = $3 AND e.endpoint_id = w.id AND a.client_id = $1 AND a.owner_id = $2;
