-- Locks the place of a search for ends of grants, unless another instance searches.
--
-- Indexes: webhook_scan_pkey.
-- Values:  $1 days before the end.
SELECT place_at AS "placeAt", place_id AS "placeId"
FROM webhook_scan
WHERE days_left = $1
FOR UPDATE SKIP LOCKED;
