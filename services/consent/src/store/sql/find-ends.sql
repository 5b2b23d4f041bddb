-- The next grants that end within so many days, in the order of their ends.
--
-- Indexes: consent_grant_expires_at_id_idx.
-- Values:  $1 and $2 the place, $3 days before the end, $4 margin in seconds, $5 number of grants.
SELECT id, expires_at AS "expiresAt"
FROM consent_grant
WHERE (expires_at, id) > ($1, $2)
  AND expires_at <= statement_timestamp() + make_interval(hours => 24 * $3::int, secs => -$4::double precision)
ORDER BY expires_at, id
LIMIT $5;
