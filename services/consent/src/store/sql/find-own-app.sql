-- One row if an app is known and has this owner.
--
-- Indexes: app_pkey.
-- Values:  $1 app, $2 owner.
SELECT
FROM app
WHERE client_id = $1 AND owner_id = $2;
