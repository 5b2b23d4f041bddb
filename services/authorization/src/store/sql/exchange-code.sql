-- Consumes a code and stores a token family with its first refresh token and access token: the statement that decides which of
-- several exchanges wins. One row says whether this one did; nothing is stored when the code is used, expired, invalidated or
-- suspended, when its app is not active in the code's epoch, or when nobody has compared this database with what was
-- acknowledged.
--
-- Indexes: authorization_code_pkey, app_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 hash of the code, $2 now, $3 failed attempts that invalidate a code, $4 id of the family, $5 its end, $6 hash of
--          the refresh token, $7 hash of the access token, $8 its end, $9 scopes of both, $10 and $11 what this process knows of the
--          database (RestoreGuard).
WITH verification AS (
  SELECT coalesce(suspension.below, 0) AS below, coalesce(
    NOT suspension.identified OR ($10::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM instance WHERE id = $10::uuid AND position >= $11::bigint
    )),
    false
  ) AS unverified
  FROM (VALUES (1)) AS one LEFT JOIN suspension ON true
), consumed AS (
  UPDATE authorization_code AS code SET consumed_at = $2, family_id = $4
  FROM app, verification
  WHERE code.hash = $1 AND code.consumed_at IS NULL AND code.expires_at > $2 AND code.failed_attempts < $3
    AND code.restore_number >= verification.below AND NOT verification.unverified
    AND app.client_id = code.client_id AND app.status = 'active' AND app.epoch = code.app_epoch
  RETURNING code.client_id, code.user_id, code.grant_id, code.app_epoch
), family AS (
  INSERT INTO token_family (id, client_id, user_id, grant_id, app_epoch, created_at, expires_at)
  SELECT $4, client_id, user_id, grant_id, app_epoch, $2, $5::timestamptz FROM consumed
), refresh AS (
  INSERT INTO refresh_token (hash, family_id, scopes, issued_at, expires_at)
  SELECT $6::bytea, $4, $9::text[], $2, $5 FROM consumed
), access AS (
  INSERT INTO access_token (hash, family_id, client_id, user_id, grant_id, scopes, app_epoch, issued_at, expires_at)
  SELECT $7::bytea, $4, client_id, user_id, grant_id, $9::text[], app_epoch, $2, $8::timestamptz FROM consumed
)
SELECT EXISTS (SELECT FROM consumed) AS exchanged, unverified FROM verification;
