-- Makes every hour of average types for a user who has none, with the same numbers as refresh-hours-average.sql.
--
-- Indexes: reading_pkey.
-- Values:  $1 user, $2 zone, $3 metric types, $4 to $6 reference ranges: type, low, high.
INSERT INTO hour_rollup (user_id, type, hour, count, sum, min, max, below, above)
SELECT $1, type, date_trunc('hour', start_at, $2), count(*), round(sum(value)::numeric, 3)::float8, min(value),
  max(value), count(*) FILTER (WHERE value < low), count(*) FILTER (WHERE value > high)
FROM reading
LEFT JOIN unnest($4::text[], $5::float8[], $6::float8[]) AS normal(type, low, high) USING (type)
WHERE user_id = $1 AND type = ANY($3::text[]) AND value IS NOT NULL
GROUP BY 2, 3
ORDER BY 2, 3;
