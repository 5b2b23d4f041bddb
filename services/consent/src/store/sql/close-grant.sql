-- Ends a grant in its last seconds, or a suspended one, so that scopes missing from a new approval do not remain in it.
--
-- Indexes: consent_grant_pkey.
-- Values:  $1 grant, $2 now.
UPDATE consent_grant SET closed_at = $2, expires_at = least(expires_at, $2) WHERE id = $1;
