-- The next grants of an app, in the order of their start.
--
-- Indexes: consent_grant_client_id_granted_at_id_idx.
-- Values:  $1 app, $2 and $3 the place, whose time is null at the beginning; $4 number of grants.
SELECT id, granted_at AS at
FROM consent_grant
WHERE client_id = $1 AND (granted_at, id) > (coalesce($2::timestamptz, '-infinity'), $3)
ORDER BY granted_at, id
LIMIT $4;
