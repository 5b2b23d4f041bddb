-- Grants as their person sees them: with the app as shown at the latest approval, and its purpose.
SELECT
-- include: grant-columns.sql
  , g.user_ref::text AS "userRef", g.app_owner_id AS "ownerId", g.app_name AS "currentAppName",
  g.app_suspended AS "appSuspended",
  shown_app_of(g.id, 'infinity') AS "shownApp",
  (SELECT purpose FROM consent_event WHERE grant_id = g.id AND kind = 'granted' ORDER BY at DESC LIMIT 1) AS purpose
FROM grant_with_status g
