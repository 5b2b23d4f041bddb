-- The answer: which hours of the user's zone changed (put-readings.sql). Values: $2 zone, $3 and $4 types gathered by end and by start.
touched AS (
  SELECT type, date_trunc('hour', CASE WHEN type = ANY($3::text[]) THEN end_at ELSE start_at END, $2) AS hour,
    count(*) AS number, count(*) FILTER (WHERE inserted) AS inserted
  FROM written
  GROUP BY 1, 2
)
SELECT CASE WHEN type = ANY($3::text[]) THEN 'by-end' WHEN type = ANY($4::text[]) THEN 'by-start' ELSE 'average' END
    AS gathering,
  array_agg(type ORDER BY type, hour)::text AS types, array_agg(hour ORDER BY type, hour)::text AS hours,
  sum(number)::int AS number, sum(inserted)::int AS inserted
FROM touched
GROUP BY 1;
