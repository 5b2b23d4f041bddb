-- Refresh tokens by their hashes, with their families and whether their successors have been used too: the lookup behind
-- every refresh and its introspection. Whether a restore that nobody has confirmed suspends a token, and whether nobody
-- has compared this database with what was acknowledged yet, are judged in the same snapshot.
--
-- A successor is deleted only with its family, or used and expired; a missing one counts as used.
--
-- Indexes: refresh_token_pkey, token_family_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 hashes of the tokens, $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
SELECT token.hash, token.scopes, token.issued_at AS "issuedAt", token.expires_at AS "expiresAt",
  extract(epoch FROM clock_timestamp() - token.rotated_at)::float8 * 1000 AS "usedForMs", token.rotated_scope AS "rotatedScope", token.successor_hash IS NOT NULL AND NOT EXISTS (
    SELECT FROM refresh_token AS successor WHERE successor.hash = token.successor_hash AND successor.rotated_at IS NULL
  ) AS "successorUsed",
  family.id AS "familyId", family.client_id AS "clientId", family.user_id AS "userId", family.grant_id AS "grantId",
  family.app_epoch AS "appEpoch", family.expires_at AS "familyExpiresAt", family.revoked_at AS "familyRevokedAt",
  family.is_bound AS "familyIsBound", family.jkt AS "familyJkt",
  family.asked_words AS "askedWords", family.grows,
  token.restore_number < verification.below AS suspended, verification.unverified
FROM verification, unnest($1::bytea[]) AS asked(hash)
JOIN refresh_token AS token ON token.hash = asked.hash
JOIN token_family AS family ON family.id = token.family_id;
