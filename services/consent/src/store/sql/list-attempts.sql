-- The newest attempts to deliver each of some events, oldest first.
--
-- Indexes: webhook_attempt_event_id_at_idx.
-- Values:  $1 events, $2 number of attempts of each.
SELECT t.event_id AS "eventId", t.at, t.status, t.failure, t.ms
FROM unnest($1::text[]) AS listed(id)
CROSS JOIN LATERAL (
  SELECT *
  FROM webhook_attempt
  WHERE event_id = listed.id
  ORDER BY at DESC, id DESC
  LIMIT $2
) t
ORDER BY t.at, t.id;
