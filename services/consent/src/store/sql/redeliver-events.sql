-- Makes events of an endpoint due that were made since a time, with new numbers in the order of the old ones.
--
-- Indexes: webhook_event_endpoint_id_number_idx, webhook_event_pkey.
-- Values:  $1 endpoint, $2 highest number, $3 states, $4 time, $5 number of events.
WITH
chosen AS MATERIALIZED (
  SELECT id
  FROM webhook_event e
  WHERE endpoint_id = $1 AND number <= $2::bigint AND state = ANY($3::text[]) AND created_at >= $4
  ORDER BY e.number
  LIMIT $5
  FOR UPDATE
),
numbered AS MATERIALIZED (
  SELECT id, nextval(pg_get_serial_sequence('webhook_event', 'number')) AS number
  FROM chosen
)
UPDATE webhook_event e SET number = n.number, state = 'pending', attempts = 1,
  next_attempt_at = statement_timestamp(), started_at = statement_timestamp()
FROM numbered n
WHERE e.id = n.id;
