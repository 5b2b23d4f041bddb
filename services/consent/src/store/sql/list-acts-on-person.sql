-- A page of the acts of operators on a person, their grants or data, newest first.
--
-- Indexes: person_pkey, operator_act_user_ref_idx, consent_grant_pkey, app_pkey.
-- Values:  $1 person, $2 size of the page, $3 offset.
SELECT own.number::float8 AS number, own.at, own.rpc, app.client_id AS "clientId", app.profile->>'name' AS "appName"
FROM (
  SELECT a.*
  FROM consent_audit.operator_act a
  JOIN person p ON p.user_ref = a.user_ref
  WHERE p.user_id = $1
  ORDER BY a.number DESC
  LIMIT $2 OFFSET $3
) own
LEFT JOIN consent_grant g ON g.id = own.grant_id
LEFT JOIN app ON app.client_id = g.client_id
ORDER BY own.number DESC;
