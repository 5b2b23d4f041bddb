-- Locks one of the revoked apps whose grants make events, unless other instances have them all.
--
-- Indexes: none. Any row will do.
SELECT client_id AS "clientId", ended_at AS "endedAt", place_at AS "placeAt", place_id AS "placeId"
FROM webhook_fanout
LIMIT 1
FOR UPDATE SKIP LOCKED;
