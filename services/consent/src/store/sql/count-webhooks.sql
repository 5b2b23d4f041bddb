-- How many endpoints there are, of apps and of the deployment.
--
-- Indexes: none. Operators ask.
SELECT count(*)::int AS total
FROM webhook_endpoint;
