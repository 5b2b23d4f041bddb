-- Judges recorded accesses, in their order, in a snapshot that begins after the records were committed. The first cause
-- that applies is answered; the causes before the grant's expiry hide that there ever was a consent.
--
-- What is unknown (NULL) is refused.
--
-- An access names one scope, which is compared first because that is cheapest, or several, which all have to be held.
--
-- Each access is looked up by keys in a nested loop (KEY_LOOK_UPS of service-kit). The state of restores is the same for all,
-- so it is read once (MATERIALIZED): whether nobody has compared this database with what was acknowledged yet.
--
-- Indexes: app_pkey, consent_grant_pkey, revoked_family_pkey, revoked_token_pkey.
-- Values:  $1 to $9 columns of the accesses, $10 and $11 the expected position of the database (RestoreGuard).
WITH
restores AS MATERIALIZED (
  SELECT below,
    NOT identified OR ($10::uuid IS NOT NULL AND NOT EXISTS (
      SELECT FROM consent_audit.instance WHERE id = $10::uuid AND position >= $11::bigint
    )) AS unverified
  FROM consent_audit.suspension
)
SELECT
  CASE
    WHEN (to_timestamp(access.token_expires_at) > statement_timestamp()) IS NOT TRUE THEN 'token_expired'
    WHEN app.status IS DISTINCT FROM 'active'                                      THEN 'app_not_alive'
    WHEN family.family_id IS NOT NULL                                              THEN 'family_revoked'
    WHEN token.token_hash IS NOT NULL                                              THEN 'token_revoked'
    WHEN held.id IS NULL OR held.revoked_at IS NOT NULL OR held.user_id IS DISTINCT FROM access.user_id
      OR held.client_id <> access.client_id OR held.app_epoch <> app.epoch         THEN 'grant_revoked'
    WHEN restores.unverified IS NOT FALSE                                          THEN 'unverified'
    WHEN (held.restore_number >= restores.below) IS NOT TRUE                       THEN 'restore_unconfirmed'
    WHEN held.expires_at <= statement_timestamp()                                  THEN 'grant_expired'
    WHEN (access.scope = ANY (held.scopes)
      OR access.scope <> '' AND string_to_array(access.scope, ' ') <@ held.scopes) IS NOT TRUE THEN 'scope_withdrawn'
    WHEN coalesce(to_char(held.data_from, 'YYYY-MM-DD'), '') IS DISTINCT FROM access.data_from THEN 'window_changed'
    WHEN held.user_ref IS DISTINCT FROM access.user_ref                            THEN 'reference_differs'
    ELSE 'released'
  END
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bigint[], $7::text[], $8::text[],
    $9::uuid[]) WITH ORDINALITY
  AS access(client_id, user_id, grant_id, family_id, token_hash, token_expires_at, scope, data_from, user_ref, ordinal)
LEFT JOIN app                      ON app.client_id = access.client_id
LEFT JOIN consent_grant AS held    ON held.id = access.grant_id
LEFT JOIN revoked_family AS family ON family.family_id = access.family_id
LEFT JOIN revoked_token AS token   ON token.token_hash = access.token_hash
LEFT JOIN restores                 ON true
ORDER BY access.ordinal;
