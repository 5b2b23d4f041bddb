-- Replaces the terms of a grant, which is locked.
--
-- Indexes: consent_grant_pkey.
-- Values:  $1 grant, $2 scopes, $3 end, $4 first day or null.
UPDATE consent_grant SET scopes = $2::text[], expires_at = $3, data_from = $4::date WHERE id = $1;
