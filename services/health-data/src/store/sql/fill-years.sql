-- Makes every year and all time from the months for a user who has none, with the same numbers as refresh-years.sql.
--
-- Indexes: day_rollup_pkey.
-- Values:  $1 user.
INSERT INTO day_rollup (user_id, type, span, start_on, count, sum, min, max, below, above, hours, days)
SELECT $1, type, covering.span, covering.start_on, sum(count), round(sum(sum)::numeric, 3)::float8, min(min), max(max),
  sum(below), sum(above), sum(hours), sum(days)
FROM day_rollup AS month
CROSS JOIN LATERAL (
  VALUES ('year', date_trunc('year', month.start_on::timestamp)::date), ('all', '-infinity')
) AS covering(span, start_on)
WHERE user_id = $1 AND month.span = 'month'
GROUP BY type, covering.span, covering.start_on
ORDER BY type, covering.span, covering.start_on;
