-- As weights-by-rollups.sql, from the readings: for a zone that the rollups are not of.
--
-- The bounds of dates are midnights UTC; sessions are in UTC, so the cast to a date gives that very date.
--
-- Indexes: reading_pkey.
-- Values:  $1 user, $2 zone, $3 no reading that starts earlier counts, $4 and $5 bounds of dates, $6 limit, $7 offset.
WITH
weighed AS (
  SELECT *, timezone($2, start_at)::date AS day
  FROM reading
  WHERE user_id = $1 AND type = 'weight' AND value IS NOT NULL AND start_at >= $3::timestamptz
),
entry AS (
  SELECT DISTINCT ON (day) id, value, day, start_at
  FROM weighed
  WHERE day >= $4::timestamptz::date AND day < $5::timestamptz::date
  ORDER BY day DESC, start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
),
total AS (
  SELECT count(*) AS total
  FROM entry
),
page AS (
  SELECT *
  FROM entry
  ORDER BY day DESC
  LIMIT $6 OFFSET $7
)
SELECT id, value, day, total, true AS usable, start_at
FROM total
LEFT JOIN page ON true
ORDER BY day DESC;
