-- Takes a person off their apps.
--
-- Indexes: app_owner_id_idx.
-- Values:  $1 person.
UPDATE app SET owner_id = '' WHERE owner_id = $1;
