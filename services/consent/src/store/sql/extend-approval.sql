-- Gives a person more time to decide.
--
-- Indexes: pending_approval_pkey.
-- Values:  $1 pending approval, which is locked, $2 seconds from now.
UPDATE pending_approval
SET expires_at = statement_timestamp() + make_interval(secs => $2::int), extensions = extensions + 1
WHERE id = $1
RETURNING expires_at AS "expiresAt";
