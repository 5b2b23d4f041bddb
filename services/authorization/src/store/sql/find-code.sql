-- An authorization code by its hash: the lookup behind every exchange. Whether a restore that nobody has confirmed suspends
-- the code is judged in the same snapshot.
--
-- Indexes: authorization_code_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 hash of the code.
SELECT code.hash, code.pending_id AS "pendingId", code.client_id AS "clientId", code.user_id AS "userId",
  code.grant_id AS "grantId", code.scopes, code.include_granted_scopes AS "includeGrantedScopes", code.redirect_uri AS "redirectUri", code.code_challenge AS "codeChallenge",
  code.app_epoch AS "appEpoch", code.issued_at AS "issuedAt", code.expires_at AS "expiresAt",
  code.consumed_at AS "consumedAt", code.family_id AS "familyId", code.failed_attempts AS "failedAttempts",
  coalesce(code.restore_number < suspension.below, false) AS suspended
FROM authorization_code AS code
LEFT JOIN suspension ON true
WHERE code.hash = $1;
