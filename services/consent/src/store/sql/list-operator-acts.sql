-- Entries of the record of operators, ascending, with the people who are not erased.
--
-- Indexes: operator_act_pkey, person_user_ref_key.
-- Values:  $1 number of the entry before, $2 number of entries.
SELECT a.number::float8 AS number, a.at, a.operator, a.rpc, a.user_ref::text AS "userRef", p.user_id AS "userId",
  a.client_id AS "clientId", a.grant_id AS "grantId", a.reason, a.request_id AS "requestId",
  a.ends::float8 AS ends, a.outcome, a.hash
FROM consent_audit.operator_act a
LEFT JOIN person p ON p.user_ref = a.user_ref
WHERE a.number > $1
ORDER BY a.number
LIMIT $2;
