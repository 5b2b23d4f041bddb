-- How many acts of operators on a person there are.
--
-- Indexes: person_pkey, operator_act_user_ref_idx.
-- Values:  $1 person.
SELECT count(*)::int AS total
FROM consent_audit.operator_act a
JOIN person p ON p.user_ref = a.user_ref
WHERE p.user_id = $1;
