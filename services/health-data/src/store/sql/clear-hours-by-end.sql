-- Removes every hour of the local dates that touched hours of sleep lie in; refresh-hours-by-end.sql makes them anew.
--
-- Of sleep one source is chosen for a whole local date, so its hours change together. They are looked up date by date,
-- by ctid: joined, Postgres would rather read all hours of the user. The bounds are generous, because an hour's first
-- instant may lie a little outside of the date that it belongs to.
--
-- Indexes: hour_rollup_pkey.
-- Values:  $1 user, $2 zone, $3 and $4 metric types and hours, in pairs.
WITH
touched AS (
  SELECT DISTINCT type, timezone($2, hour)::date AS day
  FROM unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)
)
DELETE FROM hour_rollup
WHERE ctid = ANY (ARRAY(
  SELECT gone.ctid
  FROM touched
  CROSS JOIN LATERAL (
    SELECT ctid
    FROM hour_rollup
    WHERE user_id = $1 AND type = touched.type
      AND hour >= timezone($2, day::timestamp) - interval '2 hours'
      AND hour < timezone($2, (day + 1)::timestamp) + interval '2 hours'
      AND timezone($2, hour)::date = day
    OFFSET 0
  ) AS gone
));
