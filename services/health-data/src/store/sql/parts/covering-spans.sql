-- The spans of reading_count that contain the `hours`.
covering AS (
  SELECT type, span, start_at, sum(number)::int AS number
  FROM hours
  CROSS JOIN LATERAL (
    VALUES ('hour', hour), ('day', date_trunc('day', hour, 'UTC')), ('month', date_trunc('month', hour, 'UTC')),
      ('year', date_trunc('year', hour, 'UTC')), ('all', '-infinity')
  ) AS covering(span, start_at)
  GROUP BY type, span, start_at
),
