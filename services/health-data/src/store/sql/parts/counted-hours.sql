-- The hours of all types that are not in rollups of days.
counted_hour AS (
  SELECT *
  FROM additive_hour
  UNION ALL
  SELECT type, date_trunc('hour', at, $2), count(*), sum(value), min(value), max(value)
  FROM metric
  JOIN reading_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT value, CASE keyed_by WHEN 'end' THEN end_at ELSE start_at END AS at
    FROM reading
    WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= earliest AND start_at < upper
      AND (keyed_by = 'start' OR (end_at >= lower AND end_at < upper))
    OFFSET 0
  ) AS reading
  WHERE kind = 'average'
  GROUP BY 1, 2
  UNION ALL
  SELECT type, rollup.*
  FROM metric
  JOIN hour_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT hour, count, sum, min, max
    FROM hour_rollup
    WHERE user_id = $1 AND type = metric.type AND hour >= lower AND hour < upper
    OFFSET 0
  ) AS rollup
  WHERE kind = 'average'
),
