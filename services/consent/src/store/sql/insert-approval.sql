-- Opens a pending approval, unless its id is taken.
--
-- Indexes: pending_approval_pkey.
-- Values:  $1 pending approval, $2 app, $3 its epoch, $4 host of the response, $5 scopes, $6 purpose, $7 whether the
--          app authenticated, $8 number if not, $9 hash of the network, $10 the app as shown, $11 seconds to decide.
INSERT INTO pending_approval (id, client_id, app_epoch, redirect_host, scopes, purpose, client_authenticated,
  anonymous_number, network, shown_app, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5::text[], $6, $7, $8::bigint, $9, $10::jsonb, statement_timestamp(),
  statement_timestamp() + make_interval(secs => $11::int))
ON CONFLICT (id) DO NOTHING
RETURNING expires_at AS "expiresAt";
