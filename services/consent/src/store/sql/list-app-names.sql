-- The names of apps: now, and as shown by the latest approval of a grant, else of the person's latest grant for the app.
--
-- Indexes: app_pkey, consent_grant_user_id_granted_at_id_idx.
-- Values:  $1 person, $2 grant or null, $3 apps.
SELECT d.client_id AS "clientId", a.profile->>'name' AS current, shown_app_of(g.id, 'infinity')->>'name' AS shown
FROM unnest($3::text[]) AS d(client_id)
LEFT JOIN app a ON a.client_id = d.client_id
CROSS JOIN LATERAL (
  SELECT coalesce($2::text, (
    SELECT l.id
    FROM consent_grant l
    WHERE l.user_id = $1 AND l.client_id = d.client_id
    ORDER BY l.granted_at DESC
    LIMIT 1
  )) AS id
) g;
