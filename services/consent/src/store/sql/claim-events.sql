-- Claims due events, at most one of a grant. Answers what is sent and where; a row without an id for each event that was put off instead,
-- because it waits for an earlier one of its grant, so that the next claim reads others.
--
-- Chooses endpoints with due events, first those with others than data.updated, else at random, so that none with many events keeps the
-- others waiting, then of each the due events in the same order. Instead of an event that waits for an earlier one of its grant, that one is
-- claimed, if it is due, or if it is a data.updated that need not wait: one not sent yet, or one whose grant has ended, which is not sent
-- any more.
--
-- Each endpoint of the deployment has the share of an owner. Slow receivers do not use up the share of fast ones, but may have no more than
-- two shares: a delivery to one that was fast until now becomes slow, and leaves its place to the next.
--
-- Indexes: webhook_endpoint_pkey, app_pkey, webhook_event_pkey, webhook_event_due_other_idx, webhook_event_due_data_idx, webhook_event_order_idx, consent_grant_pkey.
-- Values:  $1 endpoints that are checked, $2 slow ones, $3 those with deliveries, $4 their numbers of deliveries, $5 events, $6 how many of
--          these may be data.updated, $7 events of slow endpoints, $8 deliveries at once to an endpoint, $9 those of a share, $10 seconds
--          for which nobody else may claim them.
WITH
busy AS (
  SELECT b.id, b.count, coalesce(a.owner_id, w.id) AS owner_id, split_part(split_part(w.url, '/', 3), ':', 1) AS host,
    b.id = ANY($2::text[]) AS is_slow
  FROM unnest($3::text[], $4::int[]) AS b(id, count)
  JOIN webhook_endpoint w ON w.id = b.id
  LEFT JOIN app a ON a.client_id = w.client_id
),
endpoint AS MATERIALIZED (
  SELECT w.id, h.owner_id, h.host, h.is_slow, c.room, c.of_owner, c.of_host
  FROM webhook_endpoint w
  LEFT JOIN app a ON a.client_id = w.client_id
  CROSS JOIN LATERAL (
    SELECT coalesce(a.owner_id, w.id) AS owner_id, split_part(split_part(w.url, '/', 3), ':', 1) AS host, w.id = ANY($2::text[]) AS is_slow
  ) h
  CROSS JOIN LATERAL (
    SELECT CASE WHEN w.failures > 0 THEN 1 ELSE $8::int END - coalesce(sum(busy.count) FILTER (WHERE busy.id = w.id), 0) AS room,
      least($9::int - coalesce(sum(busy.count) FILTER (WHERE busy.owner_id = h.owner_id AND busy.is_slow = h.is_slow), 0),
        2 * $9::int - coalesce(sum(busy.count) FILTER (WHERE busy.owner_id = h.owner_id), 0)) AS of_owner,
      least($9::int - coalesce(sum(busy.count) FILTER (WHERE busy.host = h.host AND busy.is_slow = h.is_slow), 0),
        2 * $9::int - coalesce(sum(busy.count) FILTER (WHERE busy.host = h.host), 0)) AS of_host
    FROM busy
  ) c
  CROSS JOIN LATERAL (
    SELECT EXISTS (
      SELECT FROM webhook_event e
      WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type <> 'data.updated' AND e.next_attempt_at <= statement_timestamp()
    ) AS is_urgent
  ) u
  WHERE w.id = ANY($1::text[]) AND w.disabled_reason IS NULL AND w.paused_at IS NULL
    AND (w.retry_at IS NULL OR w.retry_at <= statement_timestamp())
    AND least(c.room, c.of_owner, c.of_host) > 0 AND CASE WHEN h.is_slow THEN $7::int ELSE $5::int END > 0
    AND (u.is_urgent OR ((h.is_slow OR $6::int > 0) AND EXISTS (
      SELECT FROM webhook_event e
      WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type = 'data.updated' AND e.next_attempt_at <= statement_timestamp()
    )))
  ORDER BY u.is_urgent DESC, random()
  LIMIT $5::int + $7::int
),
found AS MATERIALIZED (
  SELECT e.*, coalesce(head.id, e.id) AS head_id, head.next_attempt_at AS head_at,
    coalesce(head.type = 'data.updated' AND head.lease IS NULL
      AND (head.attempts = 0 OR e.type IN ('grant.revoked', 'grant.expired')), false) AS is_urgent_head,
    least(w.room, ceil(($5::int + $7::int) / (SELECT count(*) FROM endpoint)::double precision)) AS room,
    w.owner_id, w.host, w.is_slow, w.of_owner, w.of_host
  FROM endpoint w
  CROSS JOIN LATERAL (
    (SELECT e.id, e.endpoint_id, e.grant_id, e.type, e.number, e.next_attempt_at FROM webhook_event e
      WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type <> 'data.updated' AND e.next_attempt_at <= statement_timestamp()
      ORDER BY e.next_attempt_at LIMIT 16)
    UNION ALL
    (SELECT e.id, e.endpoint_id, e.grant_id, e.type, e.number, e.next_attempt_at FROM webhook_event e
      WHERE e.endpoint_id = w.id AND e.state = 'pending' AND e.type = 'data.updated' AND e.next_attempt_at <= statement_timestamp()
      ORDER BY e.next_attempt_at LIMIT 16)
  ) e
  LEFT JOIN LATERAL (
    SELECT f.id, f.type, f.next_attempt_at, f.lease, f.attempts FROM webhook_event f
    WHERE f.grant_id = e.grant_id AND f.state = 'pending' AND f.endpoint_id = e.endpoint_id AND f.number < e.number
    ORDER BY f.number LIMIT 1
  ) head ON true
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY endpoint_id ORDER BY is_late, next_attempt_at) AS rank, random() AS lot
  FROM (
    SELECT DISTINCT ON (head_id) *, type = 'data.updated' AS is_late
    FROM found
    WHERE head_id = id OR is_urgent_head OR head_at <= statement_timestamp()
    ORDER BY head_id, type = 'data.updated', is_urgent_head DESC
  ) each
),
shared AS (
  SELECT *, row_number() OVER (PARTITION BY owner_id, is_slow ORDER BY is_late, lot) AS owner_rank,
    row_number() OVER (PARTITION BY host, is_slow ORDER BY is_late, lot) AS host_rank
  FROM ranked
  WHERE rank <= room
),
placed AS (
  SELECT *, row_number() OVER (PARTITION BY is_slow ORDER BY is_late, lot) AS place,
    row_number() OVER (PARTITION BY is_slow, is_late ORDER BY lot) AS place_of_kind
  FROM shared
  WHERE owner_rank <= of_owner AND host_rank <= of_host
),
locked AS (
  SELECT e.id
  FROM placed p
  JOIN webhook_event e ON e.id = p.head_id
  WHERE p.place <= CASE WHEN p.is_slow THEN $7::int ELSE $5::int END
    AND (p.is_slow OR NOT p.is_late OR p.place_of_kind <= $6::int) AND e.state = 'pending'
    AND (e.next_attempt_at <= statement_timestamp() OR (p.is_urgent_head AND e.lease IS NULL))
  FOR UPDATE OF e SKIP LOCKED
),
claimed AS (
  UPDATE webhook_event e SET lease = gen_random_uuid(), attempts = e.attempts + 1,
    next_attempt_at = statement_timestamp() + make_interval(secs => $10::double precision)
  FROM locked
  WHERE e.id = locked.id
  RETURNING e.*
),
waiting AS (
  SELECT e.id, found.head_at
  FROM found
  JOIN webhook_event e ON e.id = found.id
  WHERE found.head_id <> found.id AND e.state = 'pending' AND e.lease IS NULL AND e.next_attempt_at <= statement_timestamp()
  FOR UPDATE OF e SKIP LOCKED
),
put_off AS (
  -- At most five minutes, because the earlier one may be due sooner than it says now.
  UPDATE webhook_event e SET next_attempt_at = statement_timestamp() + least(interval '5 minutes',
    greatest(waiting.head_at - statement_timestamp(), interval '1 second'))
  FROM waiting
  WHERE e.id = waiting.id
  RETURNING e.id
)
SELECT v.id, v.type, v.created_at AS "createdAt", v.grant_id AS "grantId", v.sub_hash AS "subHash", v.content,
  v.endpoint_id AS "endpointId", w.url, w.secret_version AS "secretVersion",
  coalesce(w.previous_secret_until > statement_timestamp(), false) AS "isOverlapping", w.failures > 0 AS "isFailing",
  v.lease, v.attempts, (extract(epoch FROM statement_timestamp() - v.started_at) * 1000)::double precision AS "ageMs",
  CASE WHEN v.type = 'data.updated' THEN (
    SELECT g.scopes FROM grant_with_status g WHERE g.id = v.grant_id AND g.live
  ) END AS "liveScopes"
FROM (SELECT id FROM claimed UNION ALL SELECT NULL FROM put_off) taken
LEFT JOIN claimed v ON v.id = taken.id
LEFT JOIN webhook_endpoint w ON w.id = v.endpoint_id;
