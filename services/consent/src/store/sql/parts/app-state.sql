-- The status of an app in the ledger.
SELECT status, epoch, revision, status_changed_at AS "statusChangedAt", lock_kind AS kind, lock_reason AS reason,
  locked_at AS since
