-- Makes every month from the days for a user who has none, with the same numbers as refresh-months.sql.
--
-- Indexes: day_rollup_pkey.
-- Values:  $1 user, $2 additive types.
INSERT INTO day_rollup (user_id, type, span, start_on, count, sum, min, max, below, above, hours, days)
SELECT $1, type, 'month', date_trunc('month', start_on::timestamp)::date,
  CASE WHEN type = ANY($2::text[]) THEN count(*) ELSE sum(count) END, round(sum(sum)::numeric, 3)::float8,
  CASE WHEN type = ANY($2::text[]) THEN min(sum) ELSE min(min) END,
  CASE WHEN type = ANY($2::text[]) THEN max(sum) ELSE max(max) END,
  sum(below), sum(above), sum(hours), count(*)
FROM day_rollup
WHERE user_id = $1 AND span = 'day'
GROUP BY type, 4
ORDER BY type, 4;
