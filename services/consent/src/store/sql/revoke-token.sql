-- Revokes a token. Repeated, it is kept for the longer time.
--
-- Indexes: revoked_token_pkey.
-- Values:  $1 hash, $2 when it may be forgotten.
INSERT INTO revoked_token (token_hash, expires_at) VALUES ($1, $2)
ON CONFLICT (token_hash) DO UPDATE SET expires_at = greatest(revoked_token.expires_at, excluded.expires_at);
