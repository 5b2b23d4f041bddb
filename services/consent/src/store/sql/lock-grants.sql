-- Locks the grants of a person in the order of their ids, so that transactions that lock several of them cannot
-- deadlock.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx.
-- Values:  $1 person.
SELECT 1 FROM consent_grant WHERE user_id = $1 ORDER BY id FOR UPDATE;
