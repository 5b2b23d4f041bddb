-- Grants of an app, of one person by the index consent_grant_sub_idx. Values: $1 app, $2 status or null, $3 hash of the
-- sub or null, $4 and $5 time and id of the grant that precedes them in the list or null, $6 whether only those whose
-- person asked for deletion.
FROM grant_with_status g
WHERE g.client_id = $1
  AND ($2::text IS NULL OR g.status = $2)
  AND ($3::bytea IS NULL OR sub_hash(g.user_ref, g.client_id) = $3)
  AND ($4::timestamptz IS NULL OR (g.granted_at, g.id) < ($4, $5::text))
  AND (NOT $6::boolean OR g.deletion_requested_at IS NOT NULL)
