-- Confirms the secret and the keys of an app that a restore suspends: they work again.
--
-- Indexes: none. Operators confirm, after a restore.
-- Values:  $1 app or null, $2 person or null, $3 number of the restore, which has to be the one that suspends.
UPDATE app SET secret_restore_number = greatest(secret_restore_number, $3), keys_restore_number = greatest(keys_restore_number, $3)
FROM suspension
WHERE suspension.identified AND suspension.below = $3::int
  AND least(secret_restore_number, keys_restore_number) < suspension.below AND app.client_id = $1 AND $2::text IS NULL;
