-- Removes unclaimed anonymous approvals of an app above a number. The newest of each network is kept first, then the
-- second newest of each, and so on, so that a network loses its newest only when that many others have one. Those
-- locked by a claim or decision are kept. The keys are arrays, so that Postgres evaluates the subqueries once.
--
-- Indexes: pending_approval_pkey, pending_approval_anonymous_idx.
-- Values:  $1 app, $2 how many are kept, $3 how many are removed at most.
DELETE FROM pending_approval WHERE id = ANY(ARRAY(
  SELECT id FROM pending_approval WHERE claimed_by IS NULL AND id = ANY(ARRAY(
    SELECT id FROM (
      SELECT id, anonymous_number, expires_at <= statement_timestamp() AS ended,
        row_number() OVER (PARTITION BY network ORDER BY anonymous_number DESC) AS place
      FROM pending_approval
      WHERE client_id = $1 AND claimed_by IS NULL AND anonymous_number IS NOT NULL
    ) unclaimed
    ORDER BY ended, place, anonymous_number DESC OFFSET $2 LIMIT $3
  ))
  FOR UPDATE SKIP LOCKED
))
RETURNING id;
