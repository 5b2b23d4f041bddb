-- How many grants a person has had and has, and the time of the last released read.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, app_pkey, app_epoch_pkey, access_record_user_ref_id_idx.
-- Values:  $1 person.
SELECT count(*)::int AS total, (count(*) FILTER (WHERE g.status = 'active'))::int AS active, (
  SELECT r.at
  FROM access_record r
  WHERE r.user_ref = (SELECT user_ref FROM person WHERE user_id = $1) AND r.refers_to IS NULL
    AND NOT EXISTS (SELECT FROM access_record f WHERE f.refers_to = r.id AND f.id > r.id)
  ORDER BY r.id DESC LIMIT 1
) AS "lastAccessAt"
FROM grant_with_status g
WHERE g.user_id = $1;
