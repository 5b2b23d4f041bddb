-- Deletes old counts of refused reads, as prune-approvals.sql does.
--
-- Indexes: refused_read_day_idx.
-- Values:  $1 for how many days they are kept, $2 how many at most.
DELETE FROM refused_read WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM refused_read
  WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - $1::int
  ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED));
