-- The history of a grant, oldest first.
--
-- Indexes: consent_event_grant_id_at_idx.
-- Values:  $1 grant.
SELECT kind, at, pending_id AS "pendingId", purpose, language, shown, shown_app AS "shownApp",
  scopes, expires_at AS "expiresAt", to_char(data_from, 'YYYY-MM-DD') AS "dataFrom"
FROM consent_event
WHERE grant_id = $1
ORDER BY at, kind;
