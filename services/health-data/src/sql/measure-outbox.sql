-- How many changes wait to be reported, at most 10,000, and the age of the oldest in seconds.
--
-- Indexes: reading_change_waiting_idx.
SELECT count(*)::int AS rows,
  coalesce(greatest(extract(epoch FROM statement_timestamp() - min(at)), 0), 0)::float8 AS "oldestSeconds"
FROM (SELECT at FROM reading_change WHERE NOT reported ORDER BY at, user_id, number LIMIT 10000) AS waiting;
