-- Makes somebody else the developer of an app.
--
-- Indexes: app_pkey.
-- Values:  $1 app, $2 developer.
UPDATE app SET owner_id = $2 WHERE client_id = $1;
