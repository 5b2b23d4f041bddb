-- As stale-rollups.sql, where the rows are distributed: each server searches its people, and answers those whose rollups are
-- not valid.
--
-- Indexes: reading_count_pkey, profile_pkey, rollup_state_pkey.
-- Values:  as stale-rollups.sql.
SELECT user_id AS "userId", false AS valid
FROM (SELECT DISTINCT user_id FROM reading_count WHERE user_id > $1 AND span = 'all') AS counted
LEFT JOIN profile USING (user_id)
LEFT JOIN rollup_state AS state USING (user_id)
WHERE NOT coalesce(CASE WHEN version = ANY ($4::text[])
    THEN state.time_zone = coalesce(profile.time_zone, $3) AND version = ($4::text[])[1] ELSE state.time_zone <> '' END, false)
ORDER BY user_id
LIMIT $2;
