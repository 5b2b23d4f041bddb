-- Appends an entry to the record of operators.
--
-- Indexes: none. Reads no table.
-- Values:  $1 number, $2 Unix milliseconds, $3 operator, $4 rpc, $5 reference of the person or empty, $6 app, $7 grant, $8 reason,
--          $9 request id, $10 number of the act that it ends or 0, $11 outcome, $12 hash.
INSERT INTO consent_audit.operator_act (number, at, operator, rpc, user_ref, client_id, grant_id, reason,
  request_id, ends, outcome, hash)
VALUES ($1, to_timestamp($2::float8 / 1000), $3, $4, nullif($5, '')::uuid, $6, $7, $8, $9, $10, $11, $12);
