-- How many apps have or had a grant of a person.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx.
-- Values:  $1 person.
SELECT count(DISTINCT client_id)::int AS total FROM consent_grant WHERE user_id = $1;
