-- How often apps tried to read a person's data after the person stopped or narrowed, by UTC day.
--
-- Indexes: consent_grant_user_id_granted_at_id_idx, refused_read_pkey.
-- Values:  $1 person, $2 grant, $3 app: null for any; $4 and $5 first and last day.
SELECT to_char(c.day, 'YYYY-MM-DD') AS date, g.client_id AS "clientId", sum(c.count)::int AS attempts
FROM consent_grant g
JOIN refused_read c ON c.grant_id = g.id
WHERE g.user_id = $1 AND ($2::text IS NULL OR g.id = $2) AND ($3::text IS NULL OR g.client_id = $3)
  AND c.day BETWEEN $4::date AND $5::date
GROUP BY c.day, g.client_id;
