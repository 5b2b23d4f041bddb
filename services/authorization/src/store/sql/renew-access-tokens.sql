-- Stores access tokens of different families for used refresh tokens, whose use is repeated with another key, and extends the families. Nothing is stored for a refresh token that is expired or suspended, or whose family is revoked, and nothing at all
-- when nobody has compared this database with what was acknowledged.
--
-- The families' rows are locked as in rotate-refresh-tokens.sql.
--
-- Indexes: refresh_token_pkey, token_family_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 the renewals; $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
, asked AS MATERIALIZED (
  SELECT one.*, ordinality FROM unnest($1::json[]) WITH ORDINALITY AS asked(value, ordinality), json_to_record(value) AS one(
    token_hash bytea, family_id text, now timestamptz, family_expires_at timestamptz,
    access_hash bytea, access_scopes text[], access_expires_at timestamptz, jkt text
  )
), held AS MATERIALIZED (
  SELECT asked.*, held.id, held.client_id, held.user_id, held.grant_id, held.app_epoch
  FROM asked JOIN token_family AS held ON held.id = asked.family_id
  WHERE held.revoked_at IS NULL FOR UPDATE OF held SKIP LOCKED
), changed AS (
  SELECT held.* FROM verification, held JOIN refresh_token AS token ON token.hash = held.token_hash AND token.family_id = held.id
  WHERE token.expires_at > held.now AND token.restore_number >= verification.below AND NOT verification.unverified
), access AS (
  INSERT INTO access_token (hash, family_id, client_id, user_id, grant_id, scopes, jkt, app_epoch, issued_at, expires_at)
  SELECT access_hash, id, client_id, user_id, grant_id, access_scopes, jkt, app_epoch, now, access_expires_at FROM changed
  ON CONFLICT DO NOTHING
), extended AS (
  UPDATE token_family SET expires_at = changed.family_expires_at, is_bound = is_bound OR changed.jkt IS NOT NULL
  FROM changed WHERE token_family.id = changed.id
),
-- include: parts/proof.sql
