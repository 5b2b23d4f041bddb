-- Stores access tokens of apps themselves, except those whose app is not active in the token's epoch. One row for each, in their
-- order. Run for every client_credentials request.
--
-- A database that nobody has compared with what was acknowledged stores nothing: a restore that is detected later would
-- take the tokens for older ones.
--
-- Indexes: app_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 the tokens, $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
, asked AS MATERIALIZED (
  SELECT one.*, ordinality FROM unnest($1::json[]) WITH ORDINALITY AS asked(value, ordinality), json_to_record(value) AS one(
    hash bytea, client_id text, app_epoch int, scopes text[], jkt text, issued_at timestamptz, expires_at timestamptz
  )
), stored AS (
  INSERT INTO access_token (hash, client_id, scopes, jkt, app_epoch, issued_at, expires_at)
  SELECT asked.hash, app.client_id, asked.scopes, asked.jkt, app.epoch, asked.issued_at, asked.expires_at
  FROM verification, asked JOIN app ON app.client_id = asked.client_id
  WHERE app.status = 'active' AND app.epoch = asked.app_epoch AND NOT verification.unverified
  RETURNING hash
)
SELECT hash IN (SELECT hash FROM stored) AS stored, unverified FROM verification, asked ORDER BY ordinality;
