-- Adds readings or changes their values, and adds the new ones to reading_count. Answers which quarter hours changed, and
-- how many readings were written and inserted.
--
-- The change gets the next number of the user. The snapshot is taken under the user's lock, so changes commit in the
-- order of their numbers. A reading that was deleted and is stored again leaves deleted_reading.
--
-- A row whose id exists differs at most in its value: everything else is in the natural key that the id is a hash of.
-- xmax is 0 in rows that this statement inserted.
--
-- Indexes: reading_pkey, reading_count_pkey, reading_change_pkey, deleted_reading_pkey, deleted_reading_changes_idx.
-- Values:  $1 user, $2 types that count by their end, $3 to $9 columns of the readings.
WITH
-- include: parts/next-change.sql
written AS (
  INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source, change_number)
  SELECT $1, put.*, number
  FROM unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::float8[], $9::text[])
    AS put
  CROSS JOIN change
  ON CONFLICT (user_id, type, start_at, id) DO UPDATE
    SET value = excluded.value, change_number = excluded.change_number
    WHERE reading.value IS DISTINCT FROM excluded.value
  RETURNING id, type, category, start_at, end_at, source, xmax = 0 AS inserted
),
-- include: parts/recorded-change.sql
stored_again AS (
  SELECT gone.*
  FROM written
  CROSS JOIN LATERAL (
    SELECT type, start_at, id
    FROM deleted_reading
    WHERE user_id = $1 AND type = written.type AND start_at = written.start_at AND id = written.id
    OFFSET 0
  ) AS gone
  WHERE inserted AND EXISTS (SELECT FROM deleted_reading WHERE user_id = $1)
),
-- By arrays: joined, Postgres would read all deleted readings of the user. The ids alone are unique.
restored AS (
  DELETE FROM deleted_reading
  WHERE user_id = $1 AND type = ANY (ARRAY(SELECT type FROM stored_again))
    AND start_at = ANY (ARRAY(SELECT start_at FROM stored_again)) AND id = ANY (ARRAY(SELECT id FROM stored_again))
),
days AS (
  SELECT type, date_trunc('day', start_at, 'UTC') AS day, count(*) AS number
  FROM written
  WHERE inserted
  GROUP BY 1, 2
),
-- include: parts/covering-spans.sql
counted AS (
  INSERT INTO reading_count (user_id, type, span, start_at, count)
  SELECT $1, type, span, start_at, number
  FROM covering
  ON CONFLICT (user_id, type, span, start_at) DO UPDATE SET count = reading_count.count + excluded.count
),
-- include: parts/touched-quarters.sql
