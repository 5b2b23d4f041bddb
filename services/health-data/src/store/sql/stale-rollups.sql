-- The next users with readings, and whether their rollups are of their zone and of this version. Those of a version that
-- is not known are left to the newer release that makes them, until a write has made them invalid (zone '').
--
-- One index probe for each user, however many readings they have: the key of reading_count leads from one user to the
-- next.
--
-- Indexes: reading_count_pkey, profile_pkey, rollup_state_pkey.
-- Values:  $1 the user after whom the walk goes on, $2 most users, $3 default zone, $4 known versions of the rollups, the own first.
WITH RECURSIVE
counted(user_id) AS (
  (SELECT user_id FROM reading_count WHERE user_id > $1 ORDER BY user_id LIMIT 1)
  UNION ALL
  SELECT (SELECT user_id FROM reading_count WHERE user_id > counted.user_id ORDER BY user_id LIMIT 1)
  FROM counted
  WHERE counted.user_id IS NOT NULL
),
page AS (
  SELECT user_id
  FROM counted
  WHERE user_id IS NOT NULL
  LIMIT $2
)
SELECT page.user_id AS "userId", coalesce(CASE WHEN version = ANY ($4::text[])
    THEN time_zone = coalesce(zone, $3) AND version = ($4::text[])[1] ELSE time_zone <> '' END, false)
  AS valid
FROM page
LEFT JOIN LATERAL (SELECT time_zone AS zone FROM profile WHERE user_id = page.user_id) AS wanted ON true
LEFT JOIN LATERAL (SELECT time_zone, version FROM rollup_state WHERE user_id = page.user_id) AS state ON true
ORDER BY page.user_id;
