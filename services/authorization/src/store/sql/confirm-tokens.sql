-- Confirms the access tokens of an app, of a person, or of all that a restore suspends: they work again.
--
-- Indexes: none. Operators confirm, after a restore.
-- Values:  $1 app or null, $2 person or null, $3 number of the restore, which has to be the one that suspends.
UPDATE access_token AS token SET restore_number = $3 FROM suspension
WHERE suspension.identified AND suspension.below = $3::int AND token.restore_number < suspension.below
  AND ($1::text IS NULL OR token.client_id = $1) AND ($2::text IS NULL OR token.user_id = $2);
