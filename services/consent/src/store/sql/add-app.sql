-- Adds an app (active, epoch 1) that is not known yet.
--
-- Indexes: app_pkey.
-- Values:  $1 app, $2 developer, $3 profile, $4 time of the developer's last change.
INSERT INTO app (client_id, owner_id, profile, profile_updated_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (client_id) DO NOTHING;
