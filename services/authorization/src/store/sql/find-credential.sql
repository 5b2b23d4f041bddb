-- Apps with the hashes of their secrets: the lookup behind client authentication. Whether a restore that nobody has
-- confirmed suspends a secret or the keys, and whether nobody has compared this database with what was acknowledged yet, are
-- judged in the same snapshot.
--
-- Indexes: app_pkey.
-- Values:  $1 apps, $2 and $3 the expected position of the database (RestoreGuard).
WITH
-- include: parts/verification.sql
SELECT app.client_id AS "clientId", app.owner_id AS "ownerId", app.profile,
  app.redirect_uris AS "redirectUris", app.scopes, app.require_pkce AS "requirePkce", app.epoch,
  app.ledger_revision AS "ledgerRevision", app.status_changed_at AS "statusChangedAt",
  app.lock_kind AS "lockKind", app.lock_reason AS "lockReason", app.locked_at AS "lockedAt", app.secret_hash AS "secretHash",
  app.secret_last4 AS "secretLast4", app.secret_rotated_at AS "secretRotatedAt",
  app.token_endpoint_auth_method AS "tokenEndpointAuthMethod", app.jwks, app.jwks_uri AS "jwksUri",
  app.jwks_fetched_at AS "jwksFetchedAt", app.jwks_asked_at AS "jwksAskedAt",
  app.jwks_failure AS "jwksFailure",
  app.dpop_bound_access_tokens AS "dpopBoundAccessTokens",
  app.require_pushed_authorization_requests AS "requirePushedAuthorizationRequests",
  app.application_type AS "applicationType", app.created_at AS "createdAt", app.updated_at AS "updatedAt",
  CASE
    WHEN app.status = 'active' AND ((app.secret_hash IS NOT NULL AND app.secret_restore_number < verification.below)
      OR ((app.jwks <> '' OR app.jwks_uri <> '') AND app.keys_restore_number < verification.below)) THEN 'suspended'
    ELSE app.status
  END AS status, verification.unverified
FROM verification, unnest($1::text[]) AS asked(client_id)
JOIN app ON app.client_id = asked.client_id;
