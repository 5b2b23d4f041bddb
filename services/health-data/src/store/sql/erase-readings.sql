-- Erases so many readings of a person and takes them off reading_count, where a count of 0 is removed. Answers how many
-- there were.
--
-- The lock of the user keeps rows where they are, so they are found by ctid; in the order of the primary key, because
-- neighbours share their counts.
--
-- Indexes: reading_pkey, reading_count_pkey.
-- Values:  $1 user, $2 most rows.
WITH
deleted AS (
  DELETE FROM reading
  WHERE ctid = ANY (ARRAY(SELECT ctid FROM reading WHERE user_id = $1 ORDER BY type, start_at, id LIMIT $2))
  RETURNING type, start_at
),
hours AS (
  SELECT type, date_trunc('hour', start_at, 'UTC') AS hour, count(*) AS number
  FROM deleted
  GROUP BY 1, 2
),
covering AS (
  SELECT type, span, start_at, sum(number)::int AS number
  FROM hours
  CROSS JOIN LATERAL (
    VALUES ('hour', hour), ('day', date_trunc('day', hour, 'UTC')), ('month', date_trunc('month', hour, 'UTC')),
      ('year', date_trunc('year', hour, 'UTC')), ('all', '-infinity')
  ) AS covering(span, start_at)
  GROUP BY type, span, start_at
),
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
)
SELECT count(*)::int AS number
FROM deleted;
