-- Inserts the events of the grants in `announced`, which has the columns of consent_grant and app_event, host_event
-- (NULL for none) and content. Part of the statement that changes the grants, or of its transaction, so that the events
-- are committed with their cause and in its order. An event for the deployment names the connection: its person, and
-- the app by the name that its person approved.
INSERT INTO webhook_event (endpoint_id, grant_id, sub_hash, type, content)
SELECT w.id, g.id, CASE WHEN w.client_id IS NOT NULL THEN sub_hash(g.user_ref, g.client_id) END, w.type,
  CASE WHEN w.client_id IS NOT NULL THEN g.content ELSE jsonb_build_object(
    'userId', g.user_id,
    'app', jsonb_build_object('clientId', g.client_id, 'name', shown_app_of(g.id, 'infinity')->>'name')
  ) || g.content END
FROM announced g
CROSS JOIN LATERAL endpoints_wanting(g.client_id, g.app_event, g.host_event) w
