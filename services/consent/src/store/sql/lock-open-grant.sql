-- Locks the one grant of a person for an app that is not closed: live, or ended but not yet closed.
--
-- Indexes: consent_grant_open_key.
-- Values:  $1 person, $2 app.
SELECT 1 FROM consent_grant WHERE user_id = $1 AND client_id = $2 AND closed_at IS NULL FOR UPDATE;
