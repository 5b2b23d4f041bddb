-- Counts of released responses of grants of a person, and the time of the last one. The last of a day is the latest
-- recorded, unless any of that day was refused; then the day's records are read.
--
-- Indexes: access_day_pkey, access_record_user_ref_id_idx.
-- Values:  $1 reference of the person, $2 grants.
WITH
days AS (
  SELECT grant_id, day, sum(recorded) AS recorded, sum(refused) AS refused, max(last_at) AS last_at
  FROM access_count
  WHERE user_ref = $1::uuid AND grant_id = ANY($2::text[])
  GROUP BY grant_id, day
),
latest AS (
  SELECT DISTINCT ON (grant_id) * FROM days WHERE recorded > refused ORDER BY grant_id, day DESC
)
SELECT total.grant_id AS "grantId", total.count::int AS count,
  CASE WHEN latest.refused = 0 THEN latest.last_at ELSE (
    SELECT r.at
    FROM access_record r
    WHERE r.user_ref = $1::uuid AND r.grant_id = latest.grant_id AND r.refers_to IS NULL
      AND r.id >= first_id_of(latest.day::timestamp AT TIME ZONE 'UTC')
      AND r.id < first_id_of((latest.day + 1)::timestamp AT TIME ZONE 'UTC')
      AND NOT EXISTS (SELECT FROM access_record f WHERE f.refers_to = r.id)
    ORDER BY r.id DESC LIMIT 1
  ) END AS last
FROM (SELECT grant_id, sum(recorded - refused) AS count FROM days GROUP BY grant_id) total
LEFT JOIN latest ON latest.grant_id = total.grant_id;
