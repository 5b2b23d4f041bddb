-- Denies a pending approval, which is locked.
--
-- Indexes: pending_approval_pkey.
-- Values:  $1 pending approval, $2 person, $3 now.
UPDATE pending_approval SET decision = 'denied', decided_at = $3, claimed_by = $2 WHERE id = $1;
