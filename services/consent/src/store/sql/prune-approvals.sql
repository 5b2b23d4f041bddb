-- Deletes old pending approvals. Locked rows are left out. The keys are an array, so that Postgres evaluates the
-- subquery once; otherwise it could run it again and lock other rows.
--
-- Indexes: pending_approval_created_at_idx, pending_approval_pkey.
-- Values:  $1 for how many days they are kept, $2 how many at most.
DELETE FROM pending_approval WHERE id = ANY(ARRAY(
  SELECT id FROM pending_approval
  WHERE created_at < statement_timestamp() - make_interval(days => $1::int)
  ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED));
