-- Authorization codes by their hashes: the lookup behind every exchange. Whether a restore that nobody has confirmed suspends a code,
-- and whether nobody has compared this database with what was acknowledged yet, are judged in the same snapshot.
--
-- Indexes: authorization_code_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 hashes of the codes, $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
SELECT code.hash, code.pending_id AS "pendingId", code.client_id AS "clientId", code.user_id AS "userId",
  code.grant_id AS "grantId", code.scopes, code.include_granted_scopes AS "includeGrantedScopes",
  code.redirect_uri AS "redirectUri", code.code_challenge AS "codeChallenge", code.dpop_jkt AS "dpopJkt",
  code.asked_words AS "askedWords",
  code.app_epoch AS "appEpoch", code.issued_at AS "issuedAt", code.expires_at AS "expiresAt",
  code.consumed_at AS "consumedAt", code.family_id AS "familyId", code.failed_attempts AS "failedAttempts",
  code.restore_number < verification.below AS suspended, verification.unverified
FROM verification, unnest($1::bytea[]) AS asked(hash)
JOIN authorization_code AS code ON code.hash = asked.hash;
