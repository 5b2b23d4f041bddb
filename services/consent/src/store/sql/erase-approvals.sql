-- Deletes the pending approvals that a person has claimed.
--
-- Indexes: pending_approval_claimed_by_created_at_idx.
-- Values:  $1 person.
DELETE FROM pending_approval WHERE claimed_by = $1;
