-- Active apps whose secret or keys an unconfirmed restore suspends: all, or $1. They belong to no person ($2).
FROM app JOIN suspension ON (app.secret_hash IS NOT NULL AND app.secret_restore_number < suspension.below)
  OR ((app.jwks <> '' OR app.jwks_uri <> '') AND app.keys_restore_number < suspension.below)
WHERE app.status = 'active' AND ($1::text IS NULL OR app.client_id = $1) AND $2::text IS NULL
