-- A page of the events of an endpoint, newest first, with the scopes of a data.updated that its grant has now.
--
-- Indexes: webhook_event_endpoint_id_number_idx, consent_grant_pkey, app_pkey.
-- Values:  $1 endpoint, $2 state or null, $3 size of the page, $4 offset.
SELECT v.id, v.type, v.created_at AS "createdAt", v.grant_id AS "grantId", v.sub_hash AS "subHash", v.content, v.state,
  v.next_attempt_at AS "nextAttemptAt", CASE WHEN v.type = 'data.updated' THEN (
    SELECT g.scopes FROM grant_with_status g WHERE g.id = v.grant_id AND g.live
  ) END AS "liveScopes"
FROM webhook_event v
WHERE v.endpoint_id = $1 AND ($2::text IS NULL OR v.state = $2)
ORDER BY v.number DESC
LIMIT $3 OFFSET $4;
