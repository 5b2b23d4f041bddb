-- The status of an app, whose row is locked, so that openings and status changes of one app happen in sequence.
--
-- Indexes: app_pkey.
-- Values:  $1 app.
-- include: parts/app-state.sql
FROM app WHERE client_id = $1 FOR NO KEY UPDATE;
