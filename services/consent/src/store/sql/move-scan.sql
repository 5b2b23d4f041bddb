-- Stores how far a search for ends of grants has got.
--
-- Indexes: webhook_scan_pkey.
-- Values:  $1 days before the end, $2 and $3 the place.
UPDATE webhook_scan SET place_at = $2, place_id = $3
WHERE days_left = $1;
