-- Whether an app, a token family, a token and a grant are alive, by the ledger. Asked at every introspection, exchange
-- and refresh. Always one row; its grant is null when the app has no such grant.
--
-- A grant of an older epoch of the app is never active, whatever clocks say; it had expired if its time was over before
-- the epoch ended.
--
-- Indexes: app_pkey, consent_grant_pkey, app_epoch_pkey, revoked_family_pkey, revoked_token_pkey.
-- Values:  $1 app, $2 its epoch, $3 grant, $4 token family, $5 hash of the token, $6 when it was issued,
--          $7 and $8 what this process knows of the database (RestoreGuard).
SELECT
  coalesce(a.status = 'active' AND a.epoch = $2, false) AS "appAlive",
  NOT EXISTS (SELECT FROM revoked_family WHERE family_id = $4) AS "familyAlive",
  NOT EXISTS (SELECT FROM revoked_token WHERE token_hash = $5)
    AND ($6::timestamptz > s.until) IS NOT FALSE AS "tokenAlive",
  coalesce(g.restore_number < s.below, false) AS suspended,
  coalesce(
    NOT s.identified OR ($7::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM consent_audit.instance WHERE id = $7::uuid AND position >= $8::bigint
    )),
    false
  ) AS unverified,
  g.id, g.user_id AS "userId", g.scopes, g.expires_at AS "expiresAt", to_char(g.data_from, 'YYYY-MM-DD') AS "dataFrom",
  CASE
    WHEN g.revoked_at IS NOT NULL THEN 'revoked'
    WHEN g.app_epoch < a.epoch THEN CASE WHEN e.started_at >= g.expires_at THEN 'expired' ELSE 'revoked' END
    WHEN g.expires_at <= statement_timestamp() THEN 'expired'
    ELSE 'active'
  END AS status
FROM (VALUES ($1::text, $3::text)) AS asked(client_id, grant_id)
LEFT JOIN consent_audit.suspension AS s ON true
LEFT JOIN app AS a ON a.client_id = asked.client_id
LEFT JOIN consent_grant AS g ON g.id = asked.grant_id AND g.client_id = asked.client_id
LEFT JOIN app_epoch AS e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1;
