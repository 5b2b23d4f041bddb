-- Notes the use of an assertion or a proof, unless it was used before: the statement that decides which of several uses is the first.
--
-- Indexes: used_jwt_pkey.
-- Values:  $1 hash of the JWT, $2 until when it is remembered.
INSERT INTO used_jwt (hash, expires_at) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING;
