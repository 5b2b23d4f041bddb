FROM grant_with_status g
WHERE coalesce(g.restore_number < (SELECT below FROM consent_audit.suspension), false) AND g.live
  AND ($1::text IS NULL OR g.client_id = $1) AND ($2::text IS NULL OR g.user_id = $2)
