-- A page of the grants of an app, newest first.
--
-- Indexes: consent_grant_client_id_granted_at_id_idx, app_pkey, app_epoch_pkey.
-- Values:  $1 to $6 which ones (grants-of-app.sql), $7 size of the page, $8 offset.
SELECT
-- include: parts/grant-columns.sql
-- include: parts/grants-of-app.sql
ORDER BY g.granted_at DESC, g.id DESC LIMIT $7 OFFSET $8;
