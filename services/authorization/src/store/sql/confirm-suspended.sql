-- Confirms what a restore suspends of an app, of a person, or all codes and tokens: they work again. One row: how many rows were confirmed.
--
-- Indexes: none. Operators confirm, after a restore.
-- Values:  $1 app or null, $2 person or null, $3 number of the restore, which has to be the one that suspends.
WITH open AS (
  SELECT below FROM suspension WHERE identified AND below = $3::int
), code AS (
  UPDATE authorization_code AS code SET restore_number = $3 FROM open
  WHERE code.restore_number < open.below AND ($1::text IS NULL OR code.client_id = $1) AND ($2::text IS NULL OR code.user_id = $2)
  RETURNING 1
), family AS (
  UPDATE token_family AS family SET restore_number = $3 FROM open
  WHERE family.restore_number < open.below AND ($1::text IS NULL OR family.client_id = $1) AND ($2::text IS NULL OR family.user_id = $2)
  RETURNING 1
), token AS (
  UPDATE access_token AS token SET restore_number = $3 FROM open
  WHERE token.restore_number < open.below AND ($1::text IS NULL OR token.client_id = $1) AND ($2::text IS NULL OR token.user_id = $2)
  RETURNING 1
), confirmed AS (
  UPDATE app SET secret_restore_number = greatest(secret_restore_number, $3), keys_restore_number = greatest(keys_restore_number, $3)
  FROM open
  WHERE least(secret_restore_number, keys_restore_number) < open.below AND app.client_id = $1 AND $2::text IS NULL
  RETURNING 1
)
SELECT (SELECT count(*) FROM code)::int + (SELECT count(*) FROM family)::int + (SELECT count(*) FROM token)::int
  + (SELECT count(*) FROM confirmed)::int AS confirmed
