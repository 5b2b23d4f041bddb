-- The first key behind so many readings of a metric type, in the order of the primary key: where the next piece of a
-- deletion by window begins. No row when this piece is the last.
--
-- Indexes: reading_pkey.
-- Values:  $1 user, $2 metric type, $3 and $4 first key of this piece: start and id, $5 end of the window,
--          $6 readings of a piece.
SELECT start_at::text AS "startAt", id
FROM reading
WHERE user_id = $1 AND type = $2 AND (start_at, id) >= ($3::timestamptz, $4::uuid) AND start_at < $5::timestamptz
ORDER BY start_at, id
LIMIT 1 OFFSET $6;
