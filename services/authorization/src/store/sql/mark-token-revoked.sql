-- Notes that consent has revoked an access token.
--
-- Indexes: access_token_pkey.
-- Values:  $1 hash of the token, $2 now.
UPDATE access_token SET revoked_at = $2 WHERE hash = $1 AND revoked_at IS NULL;
