-- The zone of a person. Every read limited by a grant starts with this query, so it is as cheap as possible.
--
-- Indexes: profile_pkey.
-- Values:  $1 user.
SELECT time_zone
FROM profile
WHERE user_id = $1;
