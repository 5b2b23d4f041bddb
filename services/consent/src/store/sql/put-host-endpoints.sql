-- Adds and changes endpoints of the deployment, and enables those that were gone.
--
-- Indexes: webhook_endpoint_pkey.
-- Values:  $1 endpoints, $2 their URLs, $3 their events.
INSERT INTO webhook_endpoint (id, url, events)
SELECT c.id, c.url, $3::text[]
FROM unnest($1::text[], $2::text[]) AS c(id, url)
ON CONFLICT (id) DO UPDATE SET url = excluded.url, events = excluded.events, disabled_reason = NULL,
  updated_at = statement_timestamp();
