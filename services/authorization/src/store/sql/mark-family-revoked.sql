-- Notes that consent has revoked a token family.
--
-- Indexes: token_family_pkey.
-- Values:  $1 family, $2 now.
UPDATE token_family SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL;
