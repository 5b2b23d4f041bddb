-- Adds the end of the grants `ended` to their history. One that had expired before ended then.
INSERT INTO consent_event (id, grant_id, at, kind, scopes, expires_at, data_from)
SELECT gen_random_uuid(), id, revoked_at, 'revoked', scopes, expires_at, data_from
FROM ended
WHERE revoked_at < expires_at
