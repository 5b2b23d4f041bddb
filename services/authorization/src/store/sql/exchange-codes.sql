-- Consumes codes and stores for each a token family with its first access token: the statement that decides which
-- of several exchanges wins. Nothing is stored for a code that is used, expired, invalidated or suspended, or whose app is not active
-- in the code's epoch, and nothing at all when nobody has compared this database with what was acknowledged.
--
-- A code whose row is locked is not held and not waited for: others must not wait with it.
--
-- Indexes: authorization_code_pkey, app_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 the exchanges, with different codes; $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
, asked AS MATERIALIZED (
  SELECT one.*, ordinality FROM unnest($1::json[]) WITH ORDINALITY AS asked(value, ordinality), json_to_record(value) AS one(
    code_hash bytea, now timestamptz, max_failed_attempts int, family_id text, family_expires_at timestamptz, refresh_hash bytea,
    access_hash bytea, access_expires_at timestamptz, scopes text[], jkt text, family_jkt text
  )
), held AS MATERIALIZED (
  SELECT asked.* FROM asked JOIN authorization_code AS held ON held.hash = asked.code_hash
  FOR UPDATE OF held SKIP LOCKED
), changed AS (
  UPDATE authorization_code AS code SET consumed_at = held.now, family_id = held.family_id
  FROM verification, held, app
  WHERE code.hash = held.code_hash AND code.consumed_at IS NULL AND code.expires_at > held.now
    AND code.failed_attempts < held.max_failed_attempts
    AND code.restore_number >= verification.below AND NOT verification.unverified
    AND app.client_id = code.client_id AND app.status = 'active' AND app.epoch = code.app_epoch
  RETURNING code.client_id, code.user_id, code.grant_id, code.app_epoch, code.asked_words, code.include_granted_scopes AS grows, held.now, held.family_id AS id,
    held.family_expires_at, held.refresh_hash, held.access_hash, held.access_expires_at, held.scopes, held.jkt, held.family_jkt, held.ordinality
), family AS (
  INSERT INTO token_family
    (id, client_id, user_id, grant_id, app_epoch, scopes, created_at, expires_at, is_bound, jkt, asked_words, grows, refresh_hash)
  SELECT id, client_id, user_id, grant_id, app_epoch, scopes, now, family_expires_at, jkt IS NOT NULL, family_jkt, asked_words, grows, refresh_hash
  FROM changed
), access AS (
  INSERT INTO access_token (hash, family_id, client_id, user_id, grant_id, scopes, jkt, app_epoch, issued_at, expires_at)
  SELECT access_hash, id, client_id, user_id, grant_id, scopes, jkt, app_epoch, now, access_expires_at FROM changed
),
-- include: parts/proof.sql
