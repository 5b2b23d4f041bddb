-- Uses a refresh token for the first time: stores its successor and an access token, and extends the family. One row says
-- whether this use was the first; nothing is stored when the token is used, expired or suspended, when its family is revoked,
-- or when nobody has compared this database with what was acknowledged.
--
-- Every $11 generations it also removes used and expired tokens of the family, at most 500, so that a family has no more rows than
-- it needs for the detection of reuse. Tokens from before the column generation have 0 and stay.
--
-- The family's row is locked first, so that of uses and revocations at the same time each sees what the one before it has
-- committed: after a wait for a row, Postgres evaluates the conditions again, on the row as it is then.
--
-- Indexes: refresh_token_pkey, token_family_pkey, instance_pkey, restore_pkey, restore_confirmation_pkey.
-- Values:  $1 hash of the token, $2 its family, $3 now, $4 requested scope as text, $5 hash of the successor,
--          $6 end of the family, $7 hash of the access token, $8 its scopes, $9 its end, $10 scopes of the successor, $11 how many
--          generations apart used tokens stay, $12 and $13 what this process knows of the database (RestoreGuard).
WITH verification AS (
  SELECT coalesce(suspension.below, 0) AS below, coalesce(
    NOT suspension.identified OR ($12::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM instance WHERE id = $12::uuid AND position >= $13::bigint
    )),
    false
  ) AS unverified
  FROM (VALUES (1)) AS one LEFT JOIN suspension ON true
), family AS (
  SELECT id, client_id, user_id, grant_id, app_epoch FROM token_family WHERE id = $2 AND revoked_at IS NULL FOR UPDATE
), used AS (
  UPDATE refresh_token AS token SET rotated_at = clock_timestamp(), rotated_scope = $4, successor_hash = $5
  FROM family, verification
  WHERE token.hash = $1 AND token.family_id = family.id AND token.rotated_at IS NULL AND token.expires_at > $3
    AND token.restore_number >= verification.below AND NOT verification.unverified
  RETURNING token.generation + 1 AS generation, family.*
), successor AS (
  INSERT INTO refresh_token (hash, family_id, scopes, generation, issued_at, expires_at)
  SELECT $5, id, $10::text[], generation, $3, $6::timestamptz FROM used
), access AS (
  INSERT INTO access_token (hash, family_id, client_id, user_id, grant_id, scopes, app_epoch, issued_at, expires_at)
  SELECT $7::bytea, id, client_id, user_id, grant_id, $8::text[], app_epoch, $3, $9::timestamptz FROM used
), removed AS (
  DELETE FROM refresh_token WHERE hash = ANY(ARRAY(
    SELECT old.hash FROM used JOIN refresh_token AS old ON old.family_id = used.id
    WHERE used.generation % $11::integer = 0 AND old.generation % $11::integer <> 0
      AND old.rotated_at IS NOT NULL AND old.expires_at < $3
    LIMIT 500 FOR UPDATE OF old SKIP LOCKED))
), extended AS (
  UPDATE token_family SET expires_at = $6 FROM used WHERE token_family.id = used.id
)
SELECT EXISTS (SELECT FROM used) AS rotated, unverified FROM verification;
