-- The answer: which quarter hours changed, as three arrays (types, beginnings, sources), and how many readings were written and inserted.
-- Value: $2 types that count by their end.
touched AS (
  SELECT type, date_bin('15 minutes', CASE WHEN type = ANY($2::text[]) THEN end_at ELSE start_at END, '2000-01-01Z') AS at,
    source, count(*) AS number, count(*) FILTER (WHERE inserted) AS inserted
  FROM written
  GROUP BY 1, 2, 3
)
SELECT array_agg(type ORDER BY type, at, source)::text AS types, array_agg(at ORDER BY type, at, source)::text AS quarters,
  array_agg(source ORDER BY type, at, source)::text AS sources, coalesce(sum(number), 0)::int AS number,
  coalesce(sum(inserted), 0)::int AS inserted
FROM touched;
