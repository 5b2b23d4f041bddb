-- Whether apps, token families, tokens and grants are alive, by the ledger. Asked at every introspection, exchange and
-- refresh. One row for each question, in their order; its grant is null when the app has no such grant.
--
-- A grant of an older epoch of the app is never active, whatever clocks say; it had expired if its time was over before
-- the epoch ended. One that was revoked is dead with all its tokens, also if it had expired before: the clock may go back.
--
-- Indexes: app_pkey, consent_grant_pkey, app_epoch_pkey, revoked_family_pkey, revoked_token_pkey.
-- Values:  $1 apps, $2 their epochs, $3 grants, $4 token families, $5 hashes of tokens, $6 when these were issued, $7 and
--          $8 the expected position of the database (RestoreGuard).
WITH restores AS MATERIALIZED (
  SELECT s.below, s.until, coalesce(
    NOT s.identified OR ($7::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM consent_audit.instance WHERE id = $7::uuid AND position >= $8::bigint
    )),
    true
  ) AS unverified
  FROM (VALUES (1)) AS one LEFT JOIN consent_audit.suspension AS s ON true
)
SELECT
  coalesce(a.status = 'active' AND a.epoch = asked.app_epoch, false) AS "appAlive",
  NOT EXISTS (SELECT FROM revoked_family WHERE family_id = asked.family_id) AS "familyAlive",
  NOT EXISTS (SELECT FROM revoked_token WHERE token_hash = asked.token_hash)
    AND (asked.issued_at > restores.until) IS NOT FALSE AS "tokenAlive",
  coalesce(g.restore_number < restores.below, false) AS suspended, restores.unverified,
  g.id, g.user_id AS "userId", g.scopes, g.expires_at AS "expiresAt", to_char(g.data_from, 'YYYY-MM-DD') AS "dataFrom",
  sub_hash(g.user_ref, g.client_id) AS "subHash",
  CASE
    WHEN g.revoked_at IS NOT NULL THEN 'revoked'
    WHEN g.app_epoch < a.epoch THEN CASE WHEN e.started_at >= g.expires_at THEN 'expired' ELSE 'revoked' END
    WHEN g.expires_at <= statement_timestamp() THEN 'expired'
    ELSE 'active'
  END AS status
FROM restores, unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::bytea[], $6::timestamptz[]) WITH ORDINALITY
  AS asked(client_id, app_epoch, grant_id, family_id, token_hash, issued_at, ordinal)
LEFT JOIN app AS a ON a.client_id = asked.client_id
LEFT JOIN consent_grant AS g ON g.id = asked.grant_id AND g.client_id = asked.client_id
LEFT JOIN app_epoch AS e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1
ORDER BY asked.ordinal;
