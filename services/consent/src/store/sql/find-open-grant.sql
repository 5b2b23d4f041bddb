-- The grant of a person for an app that is not closed.
--
-- Indexes: consent_grant_open_key.
-- Values:  $1 person, $2 app.
SELECT id, app_epoch AS "appEpoch"
FROM consent_grant
WHERE user_id = $1 AND client_id = $2 AND closed_at IS NULL;
