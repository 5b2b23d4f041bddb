-- A page of weight entries: of each local day with Weight readings the newest one, newest day first, each with the number
-- of such days. A single row without an id when the page is empty. A person has a few hundred a year, so all are read.
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
SELECT id, value, start_at, day, total
FROM total
LEFT JOIN page ON true
ORDER BY day DESC;
