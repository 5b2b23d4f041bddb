-- The app and the end of a pending approval that was opened before.
--
-- Indexes: pending_approval_pkey.
-- Values:  $1 pending approval.
SELECT client_id AS "clientId", expires_at AS "expiresAt" FROM pending_approval WHERE id = $1;
