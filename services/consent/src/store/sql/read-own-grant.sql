-- A grant of a person and the present time. Run after lock-own-grant.sql, in a fresh snapshot with the current clock.
--
-- Indexes: consent_grant_pkey, app_pkey, app_epoch_pkey.
-- Values:  $1 grant, $2 person.
SELECT statement_timestamp() AS now,
-- include: parts/grant-columns.sql
FROM grant_with_status g
WHERE g.id = $1 AND g.user_id = $2;
