-- Stores a report of an import, and answers whether there is one. A report that is behind the stored one, belongs to an
-- earlier run, or follows the end of the run changes nothing.
--
-- Indexes: import_pkey.
-- Values:  $1 user, $2 format, $3 digest, $4 run, $5 position, $6 report, $7 state, $8 now.
WITH
known AS (
  SELECT
  FROM import
  WHERE user_id = $1 AND format = $2 AND digest = $3
),
kept AS (
  UPDATE import
  SET position = $5, report = $6, state = $7, reported_at = $8
  WHERE user_id = $1 AND format = $2 AND digest = $3
    AND run = $4 AND state <> 'finished' AND ($7 = 'finished' OR position <= $5)
)
SELECT
FROM known;
