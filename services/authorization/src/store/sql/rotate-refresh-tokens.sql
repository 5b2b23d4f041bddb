-- Uses refresh tokens of different families for the first time: stores their successors and access tokens, and extends the families.
-- Nothing is stored for a token that is used, expired or suspended, or whose family is revoked, and nothing at all when nobody has
-- compared this database with what was acknowledged.
--
-- Every so many generations (kept_generations) it also removes used and expired tokens of a family, at most 500 in all, so that a
-- family has no more rows than it needs for the detection of reuse.
--
-- The families' rows are locked first, so that of uses and revocations at the same time each sees what the one before it has
-- committed: with the lock, Postgres evaluates the conditions again, on the row as it is then. A family whose row is locked is not held
-- and not waited for: others must not wait with it.
--
-- Indexes: refresh_token_pkey, token_family_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 the rotations; $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
, asked AS MATERIALIZED (
  SELECT one.*, ordinality FROM unnest($1::json[]) WITH ORDINALITY AS asked(value, ordinality), json_to_record(value) AS one(
    token_hash bytea, family_id text, now timestamptz, scope text, successor_hash bytea, successor_scopes text[],
    family_expires_at timestamptz, access_hash bytea, access_scopes text[], access_expires_at timestamptz, jkt text, kept_generations int
  )
), held AS MATERIALIZED (
  SELECT asked.*, held.id, held.client_id, held.user_id, held.grant_id, held.app_epoch
  FROM asked JOIN token_family AS held ON held.id = asked.family_id
  WHERE held.revoked_at IS NULL FOR UPDATE OF held SKIP LOCKED
), changed AS (
  UPDATE refresh_token AS token
  SET rotated_at = clock_timestamp(), rotated_scope = held.scope, successor_hash = held.successor_hash
  FROM held, verification
  WHERE token.hash = held.token_hash AND token.family_id = held.id AND token.rotated_at IS NULL AND token.expires_at > held.now
    AND token.restore_number >= verification.below AND NOT verification.unverified
  RETURNING token.generation + 1 AS generation, held.*
), successor AS (
  INSERT INTO refresh_token (hash, family_id, scopes, generation, issued_at, expires_at)
  SELECT successor_hash, id, successor_scopes, generation, now, family_expires_at FROM changed
), access AS (
  INSERT INTO access_token (hash, family_id, client_id, user_id, grant_id, scopes, jkt, app_epoch, issued_at, expires_at)
  SELECT access_hash, id, client_id, user_id, grant_id, access_scopes, jkt, app_epoch, now, access_expires_at FROM changed
), removed AS (
  DELETE FROM refresh_token WHERE hash = ANY(ARRAY(
    SELECT old.hash FROM changed JOIN refresh_token AS old ON old.family_id = changed.id
    WHERE changed.generation % changed.kept_generations = 0 AND old.generation % changed.kept_generations <> 0
      AND old.rotated_at IS NOT NULL AND old.expires_at < changed.now
    LIMIT 500 FOR UPDATE OF old SKIP LOCKED))
), extended AS (
  UPDATE token_family SET expires_at = changed.family_expires_at, is_bound = is_bound OR changed.jkt IS NOT NULL
  FROM changed WHERE token_family.id = changed.id
),
-- include: parts/proof.sql
