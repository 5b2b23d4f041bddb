-- Adds the profile of an app as a version unless it is already the latest, and answers the latest. The first version
-- and the latest ones are kept.
--
-- Indexes: app_pkey, app_profile_pkey.
-- Values:  $1 app, which is locked, $2 how many of the latest versions are kept.
WITH
present AS (
  SELECT profile FROM app WHERE client_id = $1
),
latest AS (
  SELECT version, profile FROM app_profile WHERE client_id = $1 ORDER BY version DESC LIMIT 1
),
added AS (
  INSERT INTO app_profile (client_id, version, since, profile)
  SELECT $1, coalesce((SELECT version FROM latest), 0) + 1, statement_timestamp(), profile
  FROM (SELECT profile FROM present EXCEPT SELECT profile FROM latest) changed
  RETURNING version
),
dropped AS (
  DELETE FROM app_profile
  WHERE client_id = $1 AND version BETWEEN 2 AND (SELECT version - $2::int FROM added)
)
SELECT coalesce((SELECT version FROM added), (SELECT version FROM latest)) AS version, profile
FROM present;
