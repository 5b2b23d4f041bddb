-- Sets the status of an app. Becoming revoked starts a new epoch. If the ledger is behind what authorization knows,
-- even the same status is set: a lost status in between may have been different. While the app is locked, the status of
-- the developer is also the one to return to. What a revocation ends is told later, if anybody wants to know it.
--
-- Indexes: app_pkey, webhook_endpoint_client_id_key.
-- Values:  $1 app, $2 status, $3 expected revision or null, $4 and $5 the highest revision and epoch that authorization
--          knows.
WITH
changed AS (
  UPDATE app SET
    status = $2,
    revision = greatest(revision, $4::int) + 1,
    status_changed_at = CASE WHEN status = $2 THEN status_changed_at ELSE statement_timestamp() END,
    epoch = greatest(epoch, $5::int) + CASE WHEN $2 = 'revoked' THEN 1 ELSE 0 END,
    unlocked_status = CASE WHEN lock_kind IS NULL THEN NULL ELSE $2 END
  WHERE client_id = $1 AND (lock_kind IS NULL OR $2 <> 'active')
    AND (coalesce(unlocked_status, status) <> $2 OR revision < $4::int OR epoch < $5::int)
    AND ($3::int IS NULL OR revision = $3::int)
  RETURNING *
),
begun AS (
-- include: parts/begun-epochs.sql
),
told AS (
  INSERT INTO webhook_fanout (client_id, ended_at)
  SELECT changed.client_id, statement_timestamp()
  FROM changed
  WHERE changed.status = 'revoked'
    AND EXISTS (SELECT FROM endpoints_wanting(changed.client_id, 'grant.revoked', 'connection.ended'))
  ON CONFLICT DO NOTHING
)
-- include: parts/app-state.sql
FROM changed;
