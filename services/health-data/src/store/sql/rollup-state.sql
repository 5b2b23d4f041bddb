-- The zone that a user's rollups are to be made for, and whether they are of that zone and of this version. Also the
-- version that they have, and whether they were made invalid (zone '').
--
-- Indexes: profile_pkey, rollup_state_pkey.
-- Values:  $1 user, $2 version of the rollups, $3 default zone.
WITH
wanted AS (
  SELECT coalesce((SELECT time_zone FROM profile WHERE user_id = $1), $3) AS time_zone
)
SELECT wanted.time_zone AS "timeZone",
  coalesce(state.time_zone = wanted.time_zone AND state.version = $2, false) AS valid,
  state.version, coalesce(state.time_zone = '', false) AS "isMarked"
FROM wanted
LEFT JOIN rollup_state AS state ON state.user_id = $1;
