-- Stores the ledger's state of an app, unless ours is newer. A revocation may be overtaken by a later re-activation, so any newer epoch
-- removes the secret and the keys. An older epoch, from a restored ledger, would bring dead credentials back and is ignored. The same revision is
-- the same state.
--
-- Indexes: app_pkey.
-- Values:  $1 app, $2 status, $3 epoch, $4 revision, $5 when the status changed, $6 to $8 kind, reason and time of the lock, or null.
UPDATE app SET status = $2::app_status, epoch = greatest(epoch, $3::int), ledger_revision = $4, status_changed_at = $5,
  lock_kind = $6, lock_reason = $7, locked_at = $8, updated_at = greatest(updated_at, $5::timestamptz),
  secret_hash = CASE WHEN epoch < $3::int THEN NULL ELSE secret_hash END,
  secret_last4 = CASE WHEN epoch < $3::int THEN '' ELSE secret_last4 END,
  jwks = CASE WHEN epoch < $3::int THEN '' ELSE jwks END,
  jwks_uri = CASE WHEN epoch < $3::int THEN '' ELSE jwks_uri END,
  jwks_fetched_at = CASE WHEN epoch < $3::int THEN NULL ELSE jwks_fetched_at END,
  jwks_failure = CASE WHEN epoch < $3::int THEN '' ELSE jwks_failure END
WHERE client_id = $1 AND ledger_revision <= $4;
