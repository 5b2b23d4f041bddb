-- The last entry of the record of operators, null at the beginning, and the time of the database. After the lock of the chain.
--
-- Indexes: operator_act_pkey.
SELECT last.number::float8 AS number, last.hash, floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at
FROM (VALUES (1)) AS one
LEFT JOIN (
  SELECT number, hash
  FROM consent_audit.operator_act a
  ORDER BY a.number DESC
  LIMIT 1
) last ON true;
