-- A pending approval that a person has claimed, or may claim.
--
-- Indexes: pending_approval_pkey, app_pkey, app_epoch_pkey, consent_grant_open_key.
-- Values:  $1 person, $2 seconds (approval-view.sql), $3 pending approval, $4 whether it may be unclaimed.
-- include: parts/approval-view.sql
WHERE p.id = $3 AND (p.claimed_by = $1 OR ($4::boolean AND p.claimed_by IS NULL));
