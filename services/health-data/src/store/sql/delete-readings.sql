-- Deletes readings by their keys and takes them off reading_count, where a count of 0 is removed. Answers as
-- put-readings.sql; none is inserted. The change is numbered as there, and each reading moves to deleted_reading.
--
-- Indexes: reading_pkey, reading_count_pkey, reading_change_pkey, reading_user_id_category_start_at_id_idx.
-- Values:  $1 user, $2 zone, $3 to $5 keys: type, start and id, $6 and $7 types gathered by end and by start.
WITH
-- The next number, and the time, which never decreases.
change AS (
  SELECT coalesce(max(number), 0) + 1 AS number, greatest(max(at), clock_timestamp()) AS at,
    max(number) IS NULL AS is_first
  FROM (SELECT number, at FROM reading_change WHERE user_id = $1 ORDER BY number DESC LIMIT 1) AS latest
),
deleted AS (
  DELETE FROM reading
  WHERE user_id = $1 AND (type, start_at, id) IN (SELECT * FROM unnest($3::text[], $4::timestamptz[], $5::uuid[]))
  RETURNING id, type, category, start_at, end_at, source
),
recorded AS (
  INSERT INTO reading_change (user_id, number, at, categories)
  SELECT $1, number, at, ARRAY(SELECT DISTINCT category FROM deleted ORDER BY category)
  FROM change
  WHERE EXISTS (SELECT FROM deleted)
  UNION ALL
  SELECT $1, 0, at, '{}'
  FROM change
  CROSS JOIN LATERAL (SELECT FROM reading WHERE is_first AND user_id = $1 LIMIT 1) AS earlier
  WHERE EXISTS (SELECT FROM deleted)
),
buried AS (
  INSERT INTO deleted_reading (user_id, id, type, category, start_at, end_at, source, change_number)
  SELECT $1, id, type, category, start_at, end_at, source, number
  FROM deleted
  CROSS JOIN change
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
),
touched AS (
  SELECT type, date_trunc('hour', CASE WHEN type = ANY($6::text[]) THEN end_at ELSE start_at END, $2) AS hour,
    count(*) AS number, 0 AS inserted
  FROM deleted
  GROUP BY 1, 2
)
SELECT CASE WHEN type = ANY($6::text[]) THEN 'by-end' WHEN type = ANY($7::text[]) THEN 'by-start' ELSE 'average' END
    AS gathering,
  array_agg(type ORDER BY type, hour)::text AS types, array_agg(hour ORDER BY type, hour)::text AS hours,
  sum(number)::int AS number, sum(inserted)::int AS inserted
FROM touched
GROUP BY 1;
