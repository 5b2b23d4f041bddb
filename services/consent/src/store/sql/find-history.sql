-- The reference of a person, null for one who never gave a consent, and whether a grant is not theirs.
--
-- Indexes: person_pkey, consent_grant_pkey.
-- Values:  $1 person, $2 grant or null.
SELECT (SELECT user_ref::text FROM person WHERE user_id = $1) AS "userRef",
  $2::text IS NOT NULL AND NOT EXISTS (SELECT FROM consent_grant WHERE id = $2 AND user_id = $1) AS "isForeign";
