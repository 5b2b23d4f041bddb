-- Claims a pending approval for a person, unless it is claimed.
--
-- Indexes: pending_approval_pkey.
-- Values:  $1 pending approval, $2 person.
UPDATE pending_approval SET claimed_by = $2 WHERE id = $1 AND claimed_by IS NULL;
