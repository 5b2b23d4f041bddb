-- Ends a grant and answers when. One statement, so that a revocation needs one round trip. It uses the newest version
-- of the row and reads the clock after the row is locked, so its time is after any change that it waited for. An
-- expired grant gets a time, too: the clock may go back, to that of another server, and what was acknowledged holds all
-- the same. The end by an app or an operator is no event of the person's history: revoked_by says it.
--
-- Indexes: consent_grant_pkey, app_epoch_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 grant; whose it has to be, who ends it: $2 person or null, $3 app or null, $4 of anybody, for an operator.
WITH
ended AS (
  UPDATE consent_grant g
  SET revoked_at = clock_timestamp(), closed_at = coalesce(g.closed_at, clock_timestamp()),
    revoked_by = CASE WHEN $4::boolean THEN 'operator' WHEN $3::text IS NOT NULL THEN 'app' END
  WHERE g.id = $1 AND (g.user_id = $2 OR g.client_id = $3 OR $4) AND g.revoked_at IS NULL
    AND NOT EXISTS (
      SELECT FROM app_epoch e
      WHERE e.client_id = g.client_id AND e.epoch = g.app_epoch + 1 AND e.started_at < g.expires_at
    )
  RETURNING g.*
),
told AS (
-- include: parts/insert-revoked.sql
  AND $2::text IS NOT NULL
),
-- include: parts/announce-ended.sql
SELECT least(revoked_at, expires_at) AS "revokedAt" FROM ended;
