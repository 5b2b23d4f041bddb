-- The spans of reading_count that contain the `days`.
covering AS (
  SELECT type, span, start_at, sum(number)::int AS number
  FROM days
  CROSS JOIN LATERAL (VALUES ('day', day), ('all', '-infinity')) AS covering(span, start_at)
  GROUP BY type, span, start_at
),
