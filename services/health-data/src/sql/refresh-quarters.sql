-- Recomputes quarter hours from their readings; one without readings that have a value is removed.
--
-- Values have at most two decimals: rounded to three, a sum is the same in whatever order it was added up. No interval is longer than
-- a day, so a reading that counts by its end starts at most that long before.
--
-- Indexes: reading_pkey, reading_quarter_pkey.
-- Values:  $1 user, $2 types that count by their end, $3 to $5 reference ranges: type, low, high, $6 to $8 quarter
--          hours: type, beginning, source.
WITH
fresh AS (
  SELECT touched.type, touched.at, touched.source, readings.*
  FROM unnest($6::text[], $7::timestamptz[], $8::text[]) AS touched(type, at, source)
  LEFT JOIN unnest($3::text[], $4::float8[], $5::float8[]) AS normal(type, low, high) USING (type)
  CROSS JOIN LATERAL (
    SELECT count(*) AS count, round(sum(value)::numeric, 3)::float8 AS sum, min(value) AS min, max(value) AS max,
      count(*) FILTER (WHERE value < low) AS below, count(*) FILTER (WHERE value > high) AS above
    FROM reading
    WHERE user_id = $1 AND type = touched.type AND source = touched.source AND value IS NOT NULL
      AND start_at >= touched.at - CASE WHEN touched.type = ANY($2::text[]) THEN interval '24 hours' ELSE interval '0' END
      AND start_at < touched.at + interval '15 minutes'
      AND (touched.type <> ALL($2::text[]) OR (end_at >= touched.at AND end_at < touched.at + interval '15 minutes'))
  ) AS readings
),
emptied AS (
  DELETE FROM reading_quarter AS kept
  USING fresh
  WHERE fresh.count = 0 AND user_id = $1 AND kept.type = fresh.type AND kept.at = fresh.at AND kept.source = fresh.source
)
INSERT INTO reading_quarter (user_id, type, at, source, count, sum, min, max, below, above)
SELECT $1, type, at, source, count, sum, min, max, below, above
FROM fresh
WHERE count > 0
ON CONFLICT (user_id, type, at, source) DO UPDATE
  SET (count, sum, min, max, below, above)
    = (excluded.count, excluded.sum, excluded.min, excluded.max, excluded.below, excluded.above)
  WHERE (reading_quarter.*) IS DISTINCT FROM (excluded.*);
