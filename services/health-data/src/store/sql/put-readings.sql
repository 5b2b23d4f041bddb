-- Adds readings or changes their values, and adds the new ones to reading_count. Answers which hours of the user's zone
-- changed (as two arrays in pairs, for each way of gathering, rollup-types.ts), and how many readings were written and
-- inserted.
--
-- A row whose id exists differs at most in its value: everything else is in the natural key that the id is a hash of.
-- xmax is 0 in rows that this statement inserted.
--
-- Indexes: reading_pkey, reading_count_pkey.
-- Values:  $1 user, $2 zone, $3 to $9 columns of the readings, $10 and $11 types gathered by end
--          and by start.
WITH
written AS (
  INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
  SELECT $1, *
  FROM unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::float8[], $9::text[])
  ON CONFLICT (user_id, type, start_at, id) DO UPDATE
    SET value = excluded.value
    WHERE reading.value IS DISTINCT FROM excluded.value
  RETURNING type, start_at, end_at, xmax = 0 AS inserted
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
