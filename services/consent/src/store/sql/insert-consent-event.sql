-- Adds an event to the history of a grant.
--
-- Indexes: none.
-- Values:  $1 grant, $2 time, $3 kind; of an approval: $4 pending approval, $5 purpose, $6 language, $7 shown scopes,
--          $8 shown app; the grant after it: $9 scopes, $10 end, $11 first day or null.
INSERT INTO consent_event (id, grant_id, at, kind, pending_id, purpose, language, shown, shown_app, scopes, expires_at,
  data_from)
VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, $9::text[], $10, $11::date);
