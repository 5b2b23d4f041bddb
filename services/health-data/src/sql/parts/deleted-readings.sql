-- What follows a deletion of readings (`written`): the change, the rows of deleted_reading, the counts and the answer.
-- include: recorded-change.sql
buried AS (
  INSERT INTO deleted_reading (user_id, id, type, category, start_at, end_at, source, change_number)
  SELECT $1, id, type, category, start_at, end_at, source, number
  FROM written
  CROSS JOIN change
),
-- include: lowered-counts.sql
-- include: touched-quarters.sql
