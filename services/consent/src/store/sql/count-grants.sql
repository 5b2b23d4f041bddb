-- How many grants a person has, up to a number.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, app_pkey, app_epoch_pkey.
-- Values:  $1 person, $2 status or null, $3 how many are counted.
SELECT count(*)::int AS total
FROM (SELECT FROM grant_with_status g WHERE g.user_id = $1 AND ($2::text IS NULL OR g.status = $2) LIMIT $3) counted;
