-- Proves with the transaction itself what it has changed, as RestoreGuard.acknowledge does. One row for each change that was asked for,
-- in their order. Without a position, nothing is proven: this process is not registered in the database.
proof AS (
  UPDATE instance SET position = position + 1, seen_at = statement_timestamp()
  WHERE id = $2::uuid AND NOT ended AND EXISTS (SELECT FROM changed) RETURNING position
)
SELECT ordinality IN (SELECT ordinality FROM held) AS held, ordinality IN (SELECT ordinality FROM changed) AS changed,
  (SELECT position FROM proof) AS position, unverified
FROM verification, asked ORDER BY ordinality;
