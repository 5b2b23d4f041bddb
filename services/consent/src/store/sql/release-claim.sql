-- Gives a claim back, if it still holds: the event is due now.
--
-- Indexes: webhook_event_pkey.
-- Values:  $1 event, $2 lease.
UPDATE webhook_event SET lease = NULL, attempts = greatest(1, attempts - 1), next_attempt_at = statement_timestamp()
WHERE id = $1 AND lease = $2::uuid;
