-- A page of the apps that have or had a grant of a person, as shown at the latest approval, with their present names.
-- The app with the latest grant comes first. What is shown of the apps is looked up only for the page.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, app_pkey.
-- Values:  $1 person, $2 size of the page, $3 offset.
WITH
page AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT DISTINCT ON (client_id) id, client_id, granted_at
    FROM consent_grant
    WHERE user_id = $1
    ORDER BY client_id, granted_at DESC, id DESC
  ) latest
  ORDER BY granted_at DESC, id DESC LIMIT $2 OFFSET $3
),
shown AS MATERIALIZED (
  SELECT page.*, shown_app_of(id, 'infinity') AS app FROM page
)
SELECT s.client_id AS "clientId", s.app->>'name' AS name, a.profile->>'name' AS "currentName",
  s.app->>'redirectHost' AS "redirectHost", s.app->>'developerName' AS "developerName"
FROM shown s
JOIN app a ON a.client_id = s.client_id
ORDER BY s.granted_at DESC, s.id DESC;
