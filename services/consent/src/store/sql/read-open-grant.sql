-- The grant that is not closed, and whether an unconfirmed restore suspends it. Run after lock-open-grant.sql, in a
-- fresh snapshot with the current clock.
--
-- Indexes: consent_grant_open_key, app_pkey, app_epoch_pkey.
-- Values:  $1 person, $2 app.
SELECT coalesce(g.restore_number < (SELECT below FROM consent_audit.suspension), false) AS suspended,
-- include: parts/grant-columns.sql
FROM grant_with_status g
WHERE g.user_id = $1 AND g.client_id = $2 AND g.closed_at IS NULL;
