-- Ends the failure of an endpoint, if it fails, and answers whether that was long.
--
-- Indexes: webhook_endpoint_pkey.
-- Values:  $1 endpoint, $2 seconds from which a failure is long.
WITH
failing AS (
  SELECT id, failing_since
  FROM webhook_endpoint
  WHERE id = $1 AND failures > 0
  FOR UPDATE
)
UPDATE webhook_endpoint w SET failures = 0, failing_since = NULL, retry_at = NULL
FROM failing
WHERE w.id = failing.id
RETURNING failing.failing_since < statement_timestamp() - make_interval(secs => $2::int) AS "wasLong";
