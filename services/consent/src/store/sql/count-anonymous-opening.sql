-- Numbers a request of an app that did not authenticate.
--
-- Indexes: app_pkey.
-- Values:  $1 app, which is locked.
UPDATE app SET anonymous_openings = anonymous_openings + 1 WHERE client_id = $1 RETURNING anonymous_openings AS number;
