-- The reference under which the person of each grant stands in access records.
--
-- Indexes: consent_grant_pkey.
-- Values:  $1 grants.
SELECT id, user_ref::text
FROM consent_grant
WHERE id = ANY($1::text[]);
