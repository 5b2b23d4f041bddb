-- A pending approval as its person sees it, with the live grant that an approval would join. Values: $1 person, $2
-- seconds before its end from which a grant is not joined any more.
SELECT
-- include: approval-columns.sql
  , p.app_owner_id AS "ownerId", g.id AS "liveGrantId", g.scopes AS "liveScopes", g.expires_at AS "liveExpiresAt",
  to_char(g.data_from, 'YYYY-MM-DD') AS "liveDataFrom", shown_app_of(g.id, 'infinity')->>'name' AS "liveAppName"
FROM approval_with_status p
LEFT JOIN consent_grant g ON g.user_id = $1 AND g.client_id = p.client_id AND g.closed_at IS NULL
  AND g.app_epoch = p.present_epoch AND g.expires_at > statement_timestamp() + make_interval(secs => $2::int)
  AND NOT coalesce(g.restore_number < (SELECT below FROM consent_audit.suspension), false)
