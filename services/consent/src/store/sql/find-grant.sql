-- A grant of a person, of an app, or of anybody.
--
-- Indexes: consent_grant_pkey, app_pkey, app_epoch_pkey.
-- Values:  $1 grant; whose it has to be: $2 person or null, $3 app or null, $4 whether of anybody.
SELECT
-- include: parts/grant-columns.sql
FROM grant_with_status g
WHERE g.id = $1 AND (g.user_id = $2 OR g.client_id = $3 OR $4::boolean);
