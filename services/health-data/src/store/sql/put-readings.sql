-- Adds readings or changes their values, and adds the new ones to reading_count. Answers which hours of the user's zone
-- changed (as two arrays in pairs, for each way of gathering, rollup-types.ts), and how many readings were written and
-- inserted.
--
-- The change gets the next number of the user. The snapshot is taken under the user's lock, so changes commit in the
-- order of their numbers. A reading that was deleted and is stored again leaves deleted_reading. The first change of a
-- user adds number 0 if there are readings from before changes were numbered.
--
-- A row whose id exists differs at most in its value: everything else is in the natural key that the id is a hash of.
-- xmax is 0 in rows that this statement inserted.
--
-- Indexes: reading_pkey, reading_count_pkey, reading_change_pkey, reading_user_id_category_start_at_id_idx, deleted_reading_pkey, deleted_reading_changes_idx.
-- Values:  $1 user, $2 zone, $3 to $9 columns of the readings, $10 and $11 types gathered by end
--          and by start.
WITH
-- The next number, and the time, which never decreases.
change AS (
  SELECT coalesce(max(number), 0) + 1 AS number, greatest(max(at), clock_timestamp()) AS at,
    max(number) IS NULL AS is_first
  FROM (SELECT number, at FROM reading_change WHERE user_id = $1 ORDER BY number DESC LIMIT 1) AS latest
),
written AS (
  INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
  SELECT $1, put.*, number
  FROM unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::float8[], $9::text[])
    AS put
  CROSS JOIN change
  ON CONFLICT (user_id, type, start_at, id) DO UPDATE
    SET value = excluded.value, change_number = excluded.change_number
    WHERE reading.value IS DISTINCT FROM excluded.value
  RETURNING id, type, category, start_at, end_at, xmax = 0 AS inserted
),
recorded AS (
  INSERT INTO reading_change (user_id, number, at, categories)
  SELECT $1, number, at, ARRAY(SELECT DISTINCT category FROM written ORDER BY category)
  FROM change
  WHERE EXISTS (SELECT FROM written)
  UNION ALL
  SELECT $1, 0, at, '{}'
  FROM change
  CROSS JOIN LATERAL (SELECT FROM reading WHERE is_first AND user_id = $1 LIMIT 1) AS earlier
  WHERE EXISTS (SELECT FROM written)
),
restored AS (
  DELETE FROM deleted_reading
  WHERE ctid = ANY (
    ARRAY(
      SELECT gone.ctid
      FROM written
      CROSS JOIN LATERAL (
        SELECT ctid
        FROM deleted_reading
        WHERE user_id = $1 AND type = written.type AND start_at = written.start_at AND id = written.id
        OFFSET 0
      ) AS gone
      WHERE inserted AND EXISTS (SELECT FROM deleted_reading WHERE user_id = $1)
    )
  )
),
hours AS (
  SELECT type, date_trunc('hour', start_at, 'UTC') AS hour, count(*) AS number
  FROM written
  WHERE inserted
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
  INSERT INTO reading_count (user_id, type, span, start_at, count)
  SELECT $1, type, span, start_at, number
  FROM covering
  ON CONFLICT (user_id, type, span, start_at) DO UPDATE SET count = reading_count.count + excluded.count
),
touched AS (
  SELECT type, date_trunc('hour', CASE WHEN type = ANY($10::text[]) THEN end_at ELSE start_at END, $2) AS hour,
    count(*) AS number, count(*) FILTER (WHERE inserted) AS inserted
  FROM written
  GROUP BY 1, 2
)
SELECT CASE WHEN type = ANY($10::text[]) THEN 'by-end' WHEN type = ANY($11::text[]) THEN 'by-start' ELSE 'average' END
    AS gathering,
  array_agg(type ORDER BY type, hour)::text AS types, array_agg(hour ORDER BY type, hour)::text AS hours,
  sum(number)::int AS number, sum(inserted)::int AS inserted
FROM touched
GROUP BY 1;
