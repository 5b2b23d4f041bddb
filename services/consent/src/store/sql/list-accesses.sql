-- A page of the access records of a person, newest first. Selects the page first, so that refusals are looked up only for its records; each
-- is later than the record that it refers to. An id starts with the time of its record, so that other months' partitions are pruned.
--
-- Indexes: access_record_user_ref_id_idx, access_record_refers_to_idx, app_pkey.
-- Values:  $1 reference of the person, $2 grant, $3 app, $4 scope, $5 and $6 first time and time of the end, $7 id of the record before: null for
--          any; $8 size of the page, $9 offset.
SELECT 'acc_' || replace(p.id::text, '-', '') AS id, p.at, p.client_id AS "clientId", p.grant_id AS "grantId", p.scope,
  p.endpoint, p.window_from AS "from", p.window_to AS "to", p.page, p.record_count AS "recordCount",
  p.request_id AS "requestId",
  coalesce(f.verdict, 'released') AS verdict,
  coalesce(shown_app_of(p.grant_id, p.at)->>'name', a.profile->>'name', '') AS "appName",
  coalesce(a.profile->>'name', '') AS "currentAppName"
FROM (
  SELECT *
  FROM access_record r
  WHERE
-- include: parts/access-filter.sql
    AND ($5::timestamptz IS NULL OR r.id >= first_id_of($5)) AND ($6::timestamptz IS NULL OR r.id < first_id_of($6))
    AND ($7::uuid IS NULL OR r.id < $7) AND r.refers_to IS NULL
  ORDER BY r.id DESC
  LIMIT $8 OFFSET $9
) p
LEFT JOIN app a ON a.client_id = p.client_id
LEFT JOIN LATERAL (
  SELECT verdict
  FROM access_record f
  WHERE f.refers_to = p.id AND f.id > p.id
  LIMIT 1
) f ON true
ORDER BY p.id DESC;
