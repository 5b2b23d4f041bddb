-- Whether there is an import.
--
-- Indexes: import_pkey.
-- Values:  $1 user, $2 format, $3 digest.
SELECT
FROM import
WHERE user_id = $1 AND format = $2 AND digest = $3;
