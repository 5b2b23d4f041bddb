-- The kept versions of the profiles of apps, oldest first.
--
-- Indexes: app_profile_pkey.
-- Values:  $1 apps.
SELECT client_id AS "clientId", version, since, profile
FROM app_profile
WHERE client_id = ANY($1::text[])
ORDER BY version;
