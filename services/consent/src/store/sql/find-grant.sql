-- A grant, of anybody or only if it is of this person or of this app.
--
-- Indexes: consent_grant_pkey, app_pkey, app_epoch_pkey.
-- Values:  $1 grant, $2 person or null, $3 app or null.
SELECT
-- include: parts/grant-columns.sql
FROM grant_with_status g
WHERE g.id = $1 AND ($2::text IS NULL OR g.user_id = $2) AND ($3::text IS NULL OR g.client_id = $3);
