-- A page of the grants that a restore suspends and that would be active, newest first.
--
-- Indexes: none. Operators ask, after a restore.
-- Values:  $1 app or null, $2 person or null, $3 size of the page, $4 offset.
SELECT g.client_id AS "clientId", g.app_name AS "appName", g.id AS "grantId", g.user_id AS "userId",
  g.granted_at AS "madeAt"
-- include: parts/suspended-grants.sql
ORDER BY g.granted_at DESC, g.id
LIMIT $3 OFFSET $4;
