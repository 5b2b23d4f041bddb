-- The status of an app.
--
-- Indexes: app_pkey.
-- Values:  $1 app.
-- include: parts/app-state.sql
FROM app WHERE client_id = $1;
