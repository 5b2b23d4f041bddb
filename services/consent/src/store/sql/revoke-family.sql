-- Revokes a token family. Repeated, it is kept for the longer time.
--
-- Indexes: revoked_family_pkey.
-- Values:  $1 family, $2 when it may be forgotten.
INSERT INTO revoked_family (family_id, expires_at) VALUES ($1, $2)
ON CONFLICT (family_id) DO UPDATE SET expires_at = greatest(revoked_family.expires_at, excluded.expires_at);
