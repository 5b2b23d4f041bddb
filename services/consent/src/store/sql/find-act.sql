-- An act of an operator, with its outcome; null while it has none.
--
-- Indexes: operator_act_pkey, operator_act_ends_key.
-- Values:  $1 number of its entry.
SELECT o.outcome AS known
FROM consent_audit.operator_act a
LEFT JOIN consent_audit.operator_act o ON o.ends = a.number AND o.ends <> 0
WHERE a.number = $1 AND a.ends = 0;
