-- An access token by its hash, with the state of its family and its app: the lookup behind every introspection. Whether
-- a restore that nobody has confirmed suspends the token, and whether nobody has compared this database with what was
-- acknowledged yet, are judged in the same snapshot.
--
-- Indexes: access_token_pkey, app_pkey, token_family_pkey.
-- Values:  $1 hash of the token, $2 and $3 what this process knows of the database (RestoreGuard).
SELECT token.hash, token.client_id, token.user_id, token.grant_id, token.family_id, token.scopes, token.app_epoch,
  token.issued_at, token.expires_at, token.revoked_at, family.revoked_at AS family_revoked_at, app.status, app.epoch,
  coalesce(token.restore_number < suspension.below, false) AS suspended,
  coalesce(
    NOT suspension.identified OR ($2::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM instance WHERE id = $2::uuid AND position >= $3::bigint
    )),
    false
  ) AS unverified
FROM access_token AS token
JOIN app ON app.client_id = token.client_id
LEFT JOIN token_family AS family ON family.id = token.family_id
LEFT JOIN suspension ON true
WHERE token.hash = $1;
