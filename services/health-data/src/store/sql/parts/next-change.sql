-- The next number, the time, which never decreases, and whether there are readings from before changes were numbered.
change AS (
  SELECT coalesce(max(number), 0) + 1 AS number, greatest(max(at), clock_timestamp()) AS at,
    max(number) IS NULL AND EXISTS (SELECT FROM reading WHERE user_id = $1) AS has_unnumbered
  FROM (SELECT number, at FROM reading_change WHERE user_id = $1 ORDER BY number DESC LIMIT 1) AS latest
),
