-- Deletes the events about the grants of a person, sent or not, except those that are still to say that a grant has
-- ended.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, webhook_event_grant_id_number_idx.
-- Values:  $1 person.
DELETE FROM webhook_event e
USING consent_grant g
WHERE g.user_id = $1 AND e.grant_id = g.id
  AND NOT (e.state = 'pending' AND e.type IN ('grant.revoked', 'grant.expired', 'connection.ended'));
