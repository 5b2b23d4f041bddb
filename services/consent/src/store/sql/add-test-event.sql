-- Adds a test to the events of a locked endpoint, unless it has had too many in the last minute: then there is no row. After the lock, so that
-- it sees the tests that others have added.
--
-- Indexes: webhook_event_created_at_idx.
-- Values:  $1 endpoint, $2 most tests.
INSERT INTO webhook_event (endpoint_id, type)
SELECT $1, 'test'
WHERE (
  SELECT count(*)
  FROM webhook_event e
  WHERE e.endpoint_id = $1 AND e.type = 'test' AND e.created_at > statement_timestamp() - interval '1 minute'
) < $2::int
RETURNING id;
