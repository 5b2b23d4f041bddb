-- Locks a pending approval.
--
-- Indexes: pending_approval_pkey.
-- Values:  $1 pending approval.
SELECT client_id AS "clientId", claimed_by AS "claimedBy" FROM pending_approval WHERE id = $1 FOR UPDATE;
