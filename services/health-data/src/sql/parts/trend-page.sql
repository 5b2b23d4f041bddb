-- The page of the points, whatever their buckets are. Values: $15 limit, $16 offset.
page AS (
  SELECT point.*, type
  FROM point
  JOIN metric USING (ordinal)
  ORDER BY at DESC, ordinal
  LIMIT $15 OFFSET $16
),
