-- Confirms the grants that a restore suspends, if it is still the latest.
--
-- Indexes: none. Operators confirm, after a restore.
-- Values:  $1 app or null, $2 person or null, $3 number of the restore.
UPDATE consent_grant g SET restore_number = $3::int
FROM consent_audit.suspension s
WHERE s.identified AND s.below = $3::int AND g.restore_number < s.below
  AND ($1::text IS NULL OR g.client_id = $1) AND ($2::text IS NULL OR g.user_id = $2);
