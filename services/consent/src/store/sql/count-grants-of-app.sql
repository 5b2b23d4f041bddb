-- How many grants an app has, up to a number.
--
-- Indexes: consent_grant_client_id_granted_at_id_idx, app_pkey, app_epoch_pkey.
-- Values:  $1 to $6 which ones (grants-of-app.sql), $7 how many are counted.
SELECT count(*)::int AS total
FROM (
  SELECT
-- include: parts/grants-of-app.sql
  LIMIT $7
) counted;
