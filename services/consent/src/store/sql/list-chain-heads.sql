-- The heads of the chains of access records, also of the operators', with batches since a day before the last checkpoint (the largest
-- ACCESS_CLOCK_TOLERANCE_MS); others are in older checkpoints. Jumps from writer to writer in the indexes of whole months, whatever the number
-- of batches.
--
-- Indexes: access_batch_pkey, operator_act_pkey.
-- Values:  $1 time of the last checkpoint or null, $2 name of the chain of the operators.
WITH RECURSIVE
since AS MATERIALIZED (
  SELECT coalesce(date_trunc('month', $1::timestamptz) - interval '1 month', '-infinity') AS at
),
chain AS (
  (SELECT writer FROM access_batch WHERE at >= (SELECT at FROM since) ORDER BY writer LIMIT 1)
  UNION ALL
  SELECT (
    SELECT b.writer
    FROM access_batch b
    WHERE b.at >= (SELECT at FROM since) AND b.writer > chain.writer
    ORDER BY b.writer
    LIMIT 1
  )
  FROM chain
  WHERE chain.writer IS NOT NULL
)
SELECT head.writer::text AS writer, head.seq, head.hash
FROM chain
CROSS JOIN LATERAL (
  SELECT writer, seq, at, hash
  FROM access_batch b
  WHERE b.writer = chain.writer AND b.at >= (SELECT at FROM since)
  ORDER BY b.seq DESC
  LIMIT 1
) head
WHERE head.at >= coalesce($1::timestamptz - interval '1 day', '-infinity')
UNION ALL
SELECT $2::text, act.number - 1, act.hash
FROM (SELECT number, at, hash FROM consent_audit.operator_act ORDER BY number DESC LIMIT 1) act
WHERE act.at >= coalesce($1::timestamptz - interval '1 day', '-infinity')
ORDER BY writer;
