-- Takes the readings that were deleted (`written`) off reading_count.
days AS (
  SELECT type, date_trunc('day', start_at, 'UTC') AS day, count(*) AS number
  FROM written
  GROUP BY 1, 2
),
-- include: covering-spans.sql
counted AS (
  SELECT kept.type, kept.span, kept.start_at, kept.count - number AS count
  FROM covering
  JOIN reading_count AS kept
    ON kept.user_id = $1 AND kept.type = covering.type AND kept.span = covering.span
      AND kept.start_at = covering.start_at
),
lowered AS (
  UPDATE reading_count AS kept
  SET count = counted.count
  FROM counted
  WHERE counted.count > 0 AND user_id = $1 AND kept.type = counted.type AND kept.span = counted.span
    AND kept.start_at = counted.start_at
),
emptied AS (
  DELETE FROM reading_count AS kept
  USING counted
  WHERE counted.count = 0 AND user_id = $1 AND kept.type = counted.type AND kept.span = counted.span
    AND kept.start_at = counted.start_at
),
