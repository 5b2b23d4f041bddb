-- The reference of a person, who is named, or whose grant is.
--
-- Indexes: person_pkey, consent_grant_pkey.
-- Values:  $1 person, $2 grant; empty when not named.
SELECT user_ref::text AS "userRef"
FROM person
WHERE user_id = $1
UNION ALL
SELECT user_ref::text
FROM consent_grant
WHERE id = $2
LIMIT 1;
