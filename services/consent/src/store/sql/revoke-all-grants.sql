-- Ends the grants of a person, which are locked, and answers those that were active. The others get a time, too, as in
-- revoke-grant.sql.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, app_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 person.
WITH
ended AS (
  UPDATE consent_grant g
  SET revoked_at = statement_timestamp(), closed_at = coalesce(g.closed_at, statement_timestamp())
  FROM app a
  WHERE a.client_id = g.client_id AND g.user_id = $1 AND g.revoked_at IS NULL AND g.app_epoch = a.epoch
  RETURNING g.*
),
told AS (
-- include: parts/insert-revoked.sql
),
-- include: parts/announce-ended.sql
SELECT id FROM ended WHERE revoked_at < expires_at;
