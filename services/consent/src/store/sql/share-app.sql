-- The status of an app, which does not change until the transaction ends.
--
-- Indexes: app_pkey.
-- Values:  $1 app.
SELECT status FROM app WHERE client_id = $1 FOR SHARE;
