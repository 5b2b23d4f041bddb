-- The usage of an app by day and endpoint, newest day first. A refusal after recording is in both the records and the gateways' counts, so the
-- larger number is used: gateways count every refusal, but report seconds later, and a gateway that crashes loses its counts.
--
-- Indexes: app_day_pkey, refused_request_pkey.
-- Values:  $1 app, $2 and $3 first and last day; null for the last 30.
SELECT to_char(c.day, 'YYYY-MM-DD') AS date, c.endpoint, sum(c.released)::int AS released,
  greatest(sum(c.refused), sum(c.count))::int AS refused,
  coalesce(jsonb_agg(jsonb_build_object('status', c.status, 'count', c.count) ORDER BY c.status)
    FILTER (WHERE c.status IS NOT NULL), '[]') AS refusals,
  sum(c.without_key)::int AS "withoutKey"
FROM (
  SELECT day, endpoint, recorded - refused AS released, refused, NULL::int AS status, 0 AS count, 0 AS without_key
  FROM app_count
  WHERE client_id = $1
  UNION ALL
  SELECT day, endpoint, 0, 0, status, count, without_key
  FROM refused_request
  WHERE client_id = $1
) c
WHERE c.day BETWEEN coalesce($2::date, (statement_timestamp() AT TIME ZONE 'UTC')::date - 29)
  AND coalesce($3::date, (statement_timestamp() AT TIME ZONE 'UTC')::date)
GROUP BY c.day, c.endpoint
ORDER BY c.day DESC, c.endpoint;
