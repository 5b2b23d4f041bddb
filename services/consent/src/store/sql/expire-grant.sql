-- Ends the time of a grant now, unless it has ended.
--
-- Indexes: consent_grant_pkey.
-- Values:  $1 grant.
UPDATE consent_grant SET expires_at = date_trunc('milliseconds', clock_timestamp())
WHERE id = $1 AND closed_at IS NULL AND expires_at > clock_timestamp();
