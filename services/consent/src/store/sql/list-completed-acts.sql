-- The acts of operators with a request id that succeeded, with the entries of their outcomes, in the order in which they began.
--
-- Indexes: operator_act_request_id_idx, operator_act_ends_key.
-- Values:  $1 request id.
SELECT a.rpc, a.number::float8 AS number, a.hash, o.number::float8 AS "outcomeNumber", o.hash AS "outcomeHash"
FROM consent_audit.operator_act a
JOIN consent_audit.operator_act o ON o.ends = a.number AND o.ends <> 0 AND o.outcome = 'OK'
WHERE a.request_id = $1 AND a.ends = 0
ORDER BY a.number;
