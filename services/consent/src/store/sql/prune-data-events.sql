-- Deletes delivered events about changed data, as prune-approvals.sql does.
--
-- Indexes: webhook_event_created_at_idx, webhook_event_pkey.
-- Values:  $1 for how many days they are kept, $2 how many at most.
DELETE FROM webhook_event WHERE id = ANY(ARRAY(
  SELECT id FROM webhook_event
  WHERE created_at < statement_timestamp() - make_interval(days => $1::int)
    AND type = 'data.updated' AND state = 'delivered'
  ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED));
