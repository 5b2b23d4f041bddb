-- Stores what came of an attempt, if the claim still holds. An attempt that failed for lack of an answer pauses the endpoint, for longer each
-- time, at most a minute. After the last attempt the next event of the grant is due, unless its own time is still to come. The id of an erased
-- person is kept only until the deployment has the end of their connection.
--
-- Indexes: webhook_event_pkey, webhook_event_order_idx, consent_grant_pkey, webhook_endpoint_pkey.
-- Values:  $1 event, $2 lease, $3 its state now, $4 seconds until the next attempt or null, $5 to $8 the attempt: time, status, failure,
--          milliseconds; $9 endpoint, $10 whether the attempt counts as its failure, $11 why nothing is sent to it any more or null.
WITH settled AS (
  UPDATE webhook_event e SET state = $3, lease = NULL,
    content = CASE WHEN $3 = 'delivered' AND NOT EXISTS (SELECT FROM consent_grant g WHERE g.id = e.grant_id)
      THEN content - 'userId' ELSE content END,
    next_attempt_at = statement_timestamp() + make_interval(secs => $4::double precision)
  WHERE id = $1 AND lease = $2::uuid
  RETURNING id, endpoint_id, grant_id, number, state
),
next AS (
  UPDATE webhook_event SET next_attempt_at = statement_timestamp()
  WHERE lease IS NULL AND started_at <= statement_timestamp() AND id = (
    SELECT f.id FROM settled s JOIN webhook_event f ON f.grant_id = s.grant_id AND f.endpoint_id = s.endpoint_id
    WHERE s.state <> 'pending' AND f.state = 'pending' AND f.number > s.number
    ORDER BY f.number LIMIT 1
  )
),
logged AS (
  INSERT INTO webhook_attempt (event_id, at, status, failure, ms)
  SELECT id, $5, $6::int, $7::text, $8::int FROM settled
)
UPDATE webhook_endpoint w SET failures = least(w.failures + 1, 1000000),
  failing_since = coalesce(w.failing_since, statement_timestamp()),
  retry_at = statement_timestamp() + make_interval(secs => least(60, power(2, least(w.failures, 10)))),
  disabled_reason = coalesce($11::text, w.disabled_reason)
FROM settled
WHERE $10::boolean AND w.id = $9;
