-- Endpoints with due events of the last seconds, at a cost that does not grow with the number of endpoints.
--
-- Indexes: webhook_event_created_at_idx.
-- Values:  $1 number of endpoints, $2 seconds.
WITH new AS MATERIALIZED (
  SELECT e.endpoint_id
  FROM webhook_event e
  WHERE e.created_at > statement_timestamp() - make_interval(secs => $2::double precision)
    AND e.state = 'pending' AND e.next_attempt_at <= statement_timestamp()
)
SELECT DISTINCT new.endpoint_id AS id
FROM new
LIMIT $1;
