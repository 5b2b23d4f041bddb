-- A page of the apps that a restore suspends.
--
-- Indexes: none. Operators ask, after a restore.
-- Values:  $1 app or null, $2 person or null, $3 size of the page, $4 offset.
SELECT app.client_id AS "clientId", app.profile->>'name' AS "appName", '' AS "grantId", '' AS "userId",
  CASE WHEN app.secret_hash IS NULL THEN app.updated_at ELSE app.secret_rotated_at END AS "madeAt"
-- include: parts/suspended-apps.sql
ORDER BY app.client_id LIMIT $3 OFFSET $4
