-- Adds a grant of a known person. It belongs to the latest restore, so no earlier one suspends it.
--
-- Indexes: person_pkey, restore_pkey.
-- Values:  $1 grant, $2 person, $3 app, $4 its epoch, $5 scopes, $6 now, $7 end, $8 first day or null.
INSERT INTO consent_grant (id, user_id, user_ref, client_id, app_epoch, scopes, granted_at, expires_at, data_from,
  restore_number)
SELECT $1, user_id, user_ref, $3, $4, $5::text[], $6, $7, $8::date,
  (SELECT coalesce(max(number), 0) FROM consent_audit.restore)
FROM person
WHERE user_id = $2;
