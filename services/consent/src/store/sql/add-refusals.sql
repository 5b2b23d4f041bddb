-- Adds a gateway's counts of refused requests, ignoring those of unknown apps. In key order, so that concurrent gateways do not deadlock. The
-- person's history gets the attempts since they narrowed or ended the grant; the lock on it waits for an erasure.
--
-- Indexes: consent_grant_pkey, app_pkey, refused_read_pkey, refused_request_pkey.
-- Values:  $1 to $7 the counts: app, day, endpoint, status, count, how many had a token without its key, grant or empty.
WITH
counted AS MATERIALIZED (
  SELECT *
  FROM unnest($1::text[], $2::date[], $3::text[], $4::int[], $5::int[], $6::int[], $7::text[])
    AS n(client_id, day, endpoint, status, count, without_key, grant_id)
),
narrowed AS MATERIALIZED (
  SELECT id
  FROM consent_grant
  WHERE id = ANY($7::text[]) AND revoked_by IS NULL AND (revoked_at IS NOT NULL OR expires_at > statement_timestamp())
  ORDER BY id
  FOR KEY SHARE
),
attempted AS (
  INSERT INTO refused_read AS r (grant_id, day, count)
  SELECT g.id, n.day, least(sum(n.count), 2147483647)::int
  FROM counted n
  JOIN narrowed g ON g.id = n.grant_id
  GROUP BY g.id, n.day
  ORDER BY g.id, n.day
  ON CONFLICT (grant_id, day) DO UPDATE SET count = least(r.count::bigint + excluded.count, 2147483647)::int
)
INSERT INTO refused_request AS r (client_id, day, endpoint, status, count, without_key)
SELECT n.client_id, n.day, n.endpoint, n.status, least(sum(n.count), 2147483647)::int, least(sum(n.without_key), 2147483647)::int
FROM counted n
JOIN app a ON a.client_id = n.client_id
GROUP BY n.client_id, n.day, n.endpoint, n.status
ORDER BY n.client_id, n.day, n.endpoint, n.status
ON CONFLICT (client_id, day, endpoint, status) DO UPDATE SET
  count = least(r.count::bigint + excluded.count, 2147483647)::int,
  without_key = least(r.without_key::bigint + excluded.without_key, 2147483647)::int;
