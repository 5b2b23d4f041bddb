-- Deletes the link of a person to their records.
--
-- Indexes: person_pkey.
-- Values:  $1 person.
DELETE FROM person WHERE user_id = $1;
