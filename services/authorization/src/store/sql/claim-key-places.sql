-- Takes the places of keys that were last asked before a time, or never, except those of revoked apps. Nobody else gets them until they are due
-- again. The ids are an array, so that Postgres evaluates the subquery once; otherwise it could run it again and lock other rows.
--
-- Indexes: app_pkey, app_jwks_asked_at_idx.
-- Values:  $1 now, $2 the time before which they were asked; $3 that time for the apps $4, which are due sooner; $5 how many at most.
UPDATE app SET jwks_asked_at = $1 WHERE client_id = ANY(ARRAY(
  SELECT client_id FROM app
  WHERE jwks_uri <> '' AND status <> 'revoked'
    AND (jwks_asked_at IS NULL OR jwks_asked_at <= $2 OR (jwks_asked_at <= $3 AND client_id = ANY($4)))
  ORDER BY jwks_asked_at NULLS FIRST LIMIT $5 FOR UPDATE SKIP LOCKED))
RETURNING client_id AS "clientId", jwks_uri AS "jwksUri";
