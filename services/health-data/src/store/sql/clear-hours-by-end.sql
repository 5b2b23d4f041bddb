-- Removes every hour of the local dates that touched hours of sleep lie in; refresh-hours-by-end.sql makes them anew.
--
-- Of sleep one source is chosen for a whole local date, so its hours change together. They are looked up date by date,
-- and deleted by arrays: joined, Postgres would rather read all hours of the user. The bounds are generous, because an hour's
-- first instant may lie a little outside of the date that it belongs to.
--
-- Indexes: hour_rollup_pkey.
-- Values:  $1 user, $2 zone, $3 and $4 metric types and hours, in pairs.
WITH
touched AS (
  SELECT DISTINCT type, timezone($2, hour)::date AS day
  FROM unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)
),
gone AS (
  SELECT hours.*
  FROM touched
  CROSS JOIN LATERAL (
    SELECT type, hour
    FROM hour_rollup
    WHERE user_id = $1 AND type = touched.type
      AND hour >= timezone($2, day::timestamp) - interval '2 hours'
      AND hour < timezone($2, (day + 1)::timestamp) + interval '2 hours'
      AND timezone($2, hour)::date = day
    OFFSET 0
  ) AS hours
)
DELETE FROM hour_rollup
WHERE user_id = $1 AND type = ANY (ARRAY(SELECT type FROM gone)) AND hour = ANY (ARRAY(SELECT hour FROM gone))
  AND (type, hour) IN (SELECT type, hour FROM gone);
