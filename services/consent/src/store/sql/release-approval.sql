-- Makes a pending approval, which is locked, unclaimed.
--
-- Indexes: pending_approval_pkey.
-- Values:  $1 pending approval.
UPDATE pending_approval SET claimed_by = NULL WHERE id = $1;
