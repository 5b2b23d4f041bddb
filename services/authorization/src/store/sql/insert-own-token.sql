-- Stores an access token of an app itself, unless the app is not active in the token's epoch. One row, when stored. Run for
-- every client_credentials request.
--
-- A database that nobody has compared with what was acknowledged stores nothing: a restore that is detected later would
-- take the token for an older one.
--
-- Indexes: app_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 hash of the token, $2 app, $3 its epoch, $4 scopes, $5 when issued, $6 when it expires, $7 and $8 what this
--          process knows of the database (RestoreGuard).
WITH verification AS (
  SELECT coalesce(
    NOT suspension.identified OR ($7::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM instance WHERE id = $7::uuid AND position >= $8::bigint
    )),
    false
  ) AS unverified
  FROM (VALUES (1)) AS one LEFT JOIN suspension ON true
), stored AS (
  INSERT INTO access_token (hash, client_id, scopes, app_epoch, issued_at, expires_at)
  SELECT $1::bytea, client_id, $4::text[], epoch, $5::timestamptz, $6::timestamptz
  FROM app, verification
  WHERE client_id = $2 AND status = 'active' AND epoch = $3 AND NOT unverified
  RETURNING 1
)
SELECT EXISTS (SELECT FROM stored) AS stored, unverified FROM verification;
