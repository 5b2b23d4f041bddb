-- Stores access tokens of different families for uses of their refresh tokens, and extends the families. The first use of a token makes the
-- next generation; a repeated use with another key finds that generation. Nothing is stored for a family that is at another
-- generation than its use has seen or has another token of that generation (from another DERIVATION_KEY), or is expired, suspended or revoked, and nothing at all when nobody has compared this database with
-- what was acknowledged.
--
-- The families' rows are locked first, so that of uses and revocations at the same time each sees what the one before it has
-- committed: with the lock, Postgres evaluates the conditions again, on the row as it is then. A family whose row is locked is not held
-- and not waited for: others must not wait with it.
--
-- Indexes: token_family_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 the uses; $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
, asked AS MATERIALIZED (
  SELECT one.*, ordinality FROM unnest($1::json[]) WITH ORDINALITY AS asked(value, ordinality), json_to_record(value) AS one(
    family_id text, seen_generation int, generation int, refresh_hash bytea, scopes text[], scope text, family_expires_at timestamptz,
    access_hash bytea, access_scopes text[], access_expires_at timestamptz, jkt text, now timestamptz
  )
), held AS MATERIALIZED (
  SELECT asked.* FROM asked JOIN token_family AS held ON held.id = asked.family_id
  FOR UPDATE OF held SKIP LOCKED
), changed AS (
  UPDATE token_family AS family
  SET generation = held.generation, refresh_hash = held.refresh_hash, scopes = held.scopes, rotated_scope = held.scope,
    previous_hash = CASE WHEN held.generation = held.seen_generation THEN family.previous_hash ELSE family.refresh_hash END,
    rotated_at = CASE WHEN held.generation = held.seen_generation THEN family.rotated_at ELSE clock_timestamp() END,
    expires_at = held.family_expires_at, is_bound = family.is_bound OR held.jkt IS NOT NULL
  FROM held, verification
  WHERE family.id = held.family_id AND family.generation = held.seen_generation AND family.revoked_at IS NULL
    AND (family.generation < held.generation OR family.refresh_hash = held.refresh_hash)
    AND family.expires_at > held.now AND family.restore_number >= verification.below AND NOT verification.unverified
  RETURNING family.id, family.client_id, family.user_id, family.grant_id, family.app_epoch, held.access_hash, held.access_scopes,
    held.access_expires_at, held.jkt, held.now, held.ordinality
), access AS (
  INSERT INTO access_token (hash, family_id, client_id, user_id, grant_id, scopes, jkt, app_epoch, issued_at, expires_at)
  SELECT access_hash, id, client_id, user_id, grant_id, access_scopes, jkt, app_epoch, now, access_expires_at FROM changed
  ON CONFLICT DO NOTHING
),
-- include: parts/proof.sql
