-- Approves a pending approval, which is locked.
--
-- Indexes: pending_approval_pkey.
-- Values:  $1 pending approval, $2 person, $3 now; the approved terms: $4 scopes, $5 days or null, $6 first day or
--          null; $7 grant, $8 its end.
UPDATE pending_approval
SET decision = 'approved', decided_at = $3, claimed_by = $2, approved_scopes = $4::text[], approved_days = $5,
  approved_data_from = $6::date, grant_id = $7, grant_expires_at = $8
WHERE id = $1;
