-- Confirms the codes of an app, of a person, or of all that a restore suspends: they work again.
--
-- Indexes: none. Operators confirm, after a restore.
-- Values:  $1 app or null, $2 person or null, $3 number of the restore, which has to be the one that suspends.
UPDATE authorization_code AS code SET restore_number = $3 FROM suspension
WHERE suspension.identified AND suspension.below = $3::int AND code.restore_number < suspension.below
  AND ($1::text IS NULL OR code.client_id = $1) AND ($2::text IS NULL OR code.user_id = $2);
