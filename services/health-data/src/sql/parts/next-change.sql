-- The next number, and the time, which never decreases.
change AS (
  SELECT coalesce(max(number), 0) + 1 AS number, greatest(max(at), clock_timestamp()) AS at
  FROM (SELECT number, at FROM reading_change WHERE user_id = $1 ORDER BY number DESC LIMIT 1) AS latest
),
