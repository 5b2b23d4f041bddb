-- Deletes the grants of a person, and the counts of reads that were refused because they had ended.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, refused_read_pkey.
-- Values:  $1 person.
WITH erased AS (
  DELETE FROM consent_grant WHERE user_id = $1 RETURNING id
),
counts AS (
  DELETE FROM refused_read r USING erased WHERE r.grant_id = erased.id
)
SELECT id FROM erased;
