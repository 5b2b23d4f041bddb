-- The imports of a person, the latest first.
--
-- Indexes: import_pkey.
-- Values:  $1 user, $2 limit.
SELECT format, digest, size::float8 AS size, state, report, started_at AS "startedAt", reported_at AS "reportedAt"
FROM import
WHERE user_id = $1
ORDER BY started_at DESC, format, digest
LIMIT $2;
