-- Adds a checkpoint, unless its number is taken.
--
-- Indexes: access_checkpoint_pkey.
-- Values:  $1 number, $2 JWS.
INSERT INTO consent_audit.access_checkpoint (number, jws) VALUES ($1, $2)
ON CONFLICT (number) DO NOTHING;
