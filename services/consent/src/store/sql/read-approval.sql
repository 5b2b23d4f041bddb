-- A pending approval and the present time. Run after lock-approval.sql, in a fresh snapshot with the current clock.
--
-- Indexes: pending_approval_pkey, app_pkey, app_epoch_pkey.
-- Values:  $1 pending approval.
SELECT statement_timestamp() AS now,
-- include: parts/approval-columns.sql
FROM approval_with_status p
WHERE p.id = $1;
