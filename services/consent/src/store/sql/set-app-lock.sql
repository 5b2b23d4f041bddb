-- Sets or lifts the operator's lock of an app. A locked app that was active is suspended, and active again when the
-- lock is lifted.
--
-- Indexes: app_pkey.
-- Values:  $1 app, $2 kind of the lock or null, $3 its reason or null, $4 expected revision or null, $5 and $6 the
--          highest revision and epoch that authorization knows.
WITH
changed AS (
  UPDATE app SET
    status = CASE WHEN $2::text IS NULL THEN coalesce(unlocked_status, status)
      WHEN status = 'active' THEN 'suspended' ELSE status END,
    revision = greatest(revision, $5::int) + 1,
    status_changed_at = CASE WHEN CASE WHEN $2 IS NULL THEN unlocked_status <> status ELSE status = 'active' END
      THEN statement_timestamp() ELSE status_changed_at END,
    epoch = greatest(epoch, $6::int),
    lock_kind = $2,
    lock_reason = $3,
    locked_at = CASE WHEN $2 IS NULL THEN NULL WHEN lock_kind = $2 THEN locked_at ELSE statement_timestamp() END,
    unlocked_status = CASE WHEN $2 IS NULL THEN NULL ELSE coalesce(unlocked_status, status) END
  WHERE client_id = $1
    AND (lock_kind IS DISTINCT FROM $2 OR lock_reason IS DISTINCT FROM $3 OR revision < $5::int OR epoch < $6::int)
    AND ($4::int IS NULL OR revision = $4::int)
  RETURNING *
),
begun AS (
-- include: parts/begun-epochs.sql
)
-- include: parts/app-state.sql
FROM changed;
