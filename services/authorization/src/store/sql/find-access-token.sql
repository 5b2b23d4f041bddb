-- Access tokens by their hashes, with the state of their families and apps: the lookup behind every introspection. Whether
-- a restore that nobody has confirmed suspends a token, and whether nobody has compared this database with what was
-- acknowledged yet, are judged in the same snapshot.
--
-- Indexes: access_token_pkey, app_pkey, token_family_pkey.
-- Values:  $1 hashes of the tokens, $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
SELECT token.hash, token.client_id AS "clientId", token.user_id AS "userId", token.grant_id AS "grantId", token.family_id AS "familyId",
  token.scopes, token.jkt, token.app_epoch AS "appEpoch", token.issued_at AS "issuedAt", token.expires_at AS "expiresAt",
  token.revoked_at AS "revokedAt", family.revoked_at AS "familyRevokedAt", coalesce(family.asked_words, '{}') AS "askedWords",
  app.status AS "appStatus", app.epoch AS "currentEpoch",
  token.restore_number < verification.below AS suspended, verification.unverified
FROM verification, unnest($1::bytea[]) AS asked(hash)
JOIN access_token AS token ON token.hash = asked.hash
JOIN app ON app.client_id = token.client_id
LEFT JOIN token_family AS family ON family.id = token.family_id;
