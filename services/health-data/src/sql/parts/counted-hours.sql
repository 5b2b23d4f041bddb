-- The hours of the types in `hourly_metric`, by source for additive types. date_trunc() with a zone keeps apart the two hours that an
-- autumn night calls by the same name.
source_hour AS (
  SELECT ordinal, kind = 'additive' AS by_source, keyed_by = 'end' AS by_day, hours.*
  FROM hourly_metric AS metric
  CROSS JOIN LATERAL (
    SELECT date_trunc('hour', at, $2) AS hour, CASE metric.kind WHEN 'additive' THEN source END AS source, sum(count)::int AS count,
      sum(sum) AS sum, min(min) AS min, max(max) AS max
    FROM (
      SELECT quarter.*
      FROM quarter_range
      CROSS JOIN LATERAL (
        SELECT at, source, count, sum, min, max
        FROM reading_quarter
        WHERE user_id = $1 AND type = metric.type AND at >= lower AND at < upper
        OFFSET 0
      ) AS quarter
      WHERE quarter_range.keyed_by = metric.keyed_by
      UNION ALL
      SELECT reading.*
      FROM reading_range
      CROSS JOIN LATERAL (
        SELECT CASE metric.keyed_by WHEN 'end' THEN end_at ELSE start_at END, source, 1, value, value, value
        FROM reading
        WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= earliest AND start_at < upper
          AND (metric.keyed_by = 'start' OR (end_at >= lower AND end_at < upper))
        OFFSET 0
      ) AS reading
      WHERE reading_range.keyed_by = metric.keyed_by
    ) AS part
    GROUP BY 1, 2
    OFFSET 0
  ) AS hours
),
-- Of an additive type, only the source with the largest sum of the hour counts (for sleep: of the local date of waking up), the
-- first by name of equal ones: a second device counted the same steps again. Sums are compared without binary noise.
counted_hour AS (
  SELECT ordinal, hour, count, sum, min, max
  FROM source_hour
  WHERE NOT by_source
  UNION ALL
  (
    SELECT DISTINCT ON (ordinal, hour) ordinal, hour, count, sum, min, max
    FROM source_hour
    WHERE by_source AND NOT by_day
    ORDER BY ordinal, hour, round(sum * 1000) DESC, source
  )
  UNION ALL
  SELECT ordinal, hour, count, sum, min, max
  FROM (
    SELECT *, rank() OVER (PARTITION BY ordinal, day ORDER BY round(source_sum * 1000) DESC, source) AS source_rank
    FROM (
      SELECT *, sum(sum) OVER (PARTITION BY ordinal, day, source) AS source_sum
      FROM (
        SELECT *, timezone($2, hour)::date AS day
        FROM source_hour
        WHERE by_source AND by_day
      ) AS placed
    ) AS summed
  ) AS ranked
  WHERE source_rank = 1
),
