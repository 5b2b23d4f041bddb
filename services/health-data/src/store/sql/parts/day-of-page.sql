-- The number of points of a trend, and the day in which its page begins. The trend says what `points_of_span` and
-- `other_point` are.
-- How many points each span and each other day has.
part AS (
  SELECT span, at, sum(points)::int AS points
  FROM (
    SELECT span, start_on AS at, points
    FROM metric
    JOIN span_range USING (keyed_by)
    CROSS JOIN LATERAL (
      SELECT start_on, points
      FROM points_of_span
      WHERE type = metric.type AND span = span_range.span AND start_on >= lower AND start_on < upper
      OFFSET 0
    ) AS rollup
    UNION ALL
    SELECT 'day', day, count(*)
    FROM other_point
    GROUP BY day
  ) AS of_type
  GROUP BY span, at
),
total AS (
  SELECT coalesce(sum(points), 0)::int AS total
  FROM part
),
ranked_part AS (
  SELECT *, sum(points) OVER (ORDER BY at DESC) - points AS before
  FROM part
),
-- Unless the page is the first: the part that holds the point behind $22 others, then the month and the day of it.
found_span AS (
  (
    SELECT span COLLATE "C" AS span, at, before
    FROM ranked_part
    WHERE $22 > 0 AND before <= $22 AND before + points > $22
    LIMIT 1
  )
  UNION ALL
  SELECT finer.*
  FROM found_span
  CROSS JOIN LATERAL (
    SELECT span, at, before
    FROM (
      SELECT span, at, sum(points)::int AS points,
        found_span.before + sum(sum(points)::int) OVER (ORDER BY at DESC) - sum(points)::int AS before
      FROM metric
      CROSS JOIN LATERAL (
        SELECT span, start_on AS at, points
        FROM points_of_span
        WHERE type = metric.type
          AND span = CASE found_span.span WHEN 'year' THEN 'month' WHEN 'month' THEN 'day' END
          AND start_on >= found_span.at AND start_on < found_span.at + ('1 ' || found_span.span)::interval
        OFFSET 0
      ) AS rollup
      GROUP BY span, at
    ) AS ranked
    WHERE before <= $22 AND before + points > $22
    LIMIT 1
  ) AS finer
),
found_day AS (
  SELECT at, before
  FROM found_span
  WHERE span = 'day'
),
