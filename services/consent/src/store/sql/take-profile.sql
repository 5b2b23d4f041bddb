-- Stores a profile that authorization reports, unless a newer one is known.
--
-- Indexes: app_pkey.
-- Values:  $1 app, $2 profile, $3 time of the developer's last change.
UPDATE app SET (profile, profile_updated_at) = ROW($2::jsonb, $3::timestamptz)
WHERE client_id = $1 AND profile_updated_at <= $3::timestamptz
  AND (profile, profile_updated_at) IS DISTINCT FROM ($2::jsonb, $3::timestamptz);
