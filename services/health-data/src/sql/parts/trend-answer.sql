-- The answer: the points that are `shown`, each with the number of all.
SELECT total, type AS metric, start, "end", count, sum, min, max,
  trunc(extract(epoch FROM timezone($2, start) - timezone('UTC', start)) / 60)::int AS "startOffsetMinutes",
  trunc(extract(epoch FROM timezone($2, "end") - timezone('UTC', "end")) / 60)::int AS "endOffsetMinutes"
FROM (SELECT count(*)::int AS total FROM point) AS counted
LEFT JOIN shown ON true
ORDER BY at DESC, ordinal;
