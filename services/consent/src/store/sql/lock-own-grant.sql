-- Locks a grant of a person.
--
-- Indexes: consent_grant_pkey.
-- Values:  $1 grant, $2 person.
SELECT 1 FROM consent_grant WHERE id = $1 AND user_id = $2 FOR UPDATE;
