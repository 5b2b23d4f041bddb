-- Deletes old counts of refused requests, as prune-approvals.sql does.
--
-- Indexes: refused_request_day_idx.
-- Values:  $1 for how many days they are kept, $2 how many at most.
DELETE FROM refused_request WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM refused_request
  WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - $1::int
  ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED));
