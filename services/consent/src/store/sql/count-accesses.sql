-- Counts the records of uncounted batches in access_day and app_day, and answers how many batches it took. One statement, so a
-- batch is uncounted or in the counts, never both or neither.
--
-- Few batches are uncounted at any time, so all of them are read. The records of a batch share its time and so a range
-- of ids. Counts are written in the order of their key, so that two counters never wait for each other; the second one
-- skips the batches that the first one has taken. The quarter hours of a day are in its row, so they add no rows.
--
-- Indexes: access_uncounted_pkey, access_record_pkey, access_day_pkey, app_day_pkey.
-- Values:  $1 most batches.
WITH
picked AS (
  SELECT writer, seq
  FROM access_uncounted
  ORDER BY at
  LIMIT $1
  FOR UPDATE SKIP LOCKED
),
taken AS (
  DELETE FROM access_uncounted AS u
  USING picked AS p
  WHERE u.writer = p.writer AND u.seq = p.seq
  RETURNING u.writer, u.seq, u.at
),
counted AS (
  SELECT r.user_ref, r.grant_id, date '1970-01-01' + r.quarter / 96 AS day, r.client_id, r.scope, r.endpoint,
    count(*) FILTER (WHERE NOT r.is_refusal)::int AS recorded,
    count(*) FILTER (WHERE r.is_refusal)::int AS refused,
    count_quarters(r.quarter % 96 + 1) FILTER (WHERE NOT r.is_refusal) AS recorded_by_quarter,
    count_quarters(r.quarter % 96 + 1) FILTER (WHERE r.is_refusal) AS refused_by_quarter,
    max(r.at) FILTER (WHERE NOT r.is_refusal) AS last_at
  FROM taken
  CROSS JOIN LATERAL (
    SELECT user_ref, grant_id, quarter_of_id(coalesce(refers_to, id)) AS quarter, client_id, scope, endpoint,
      refers_to IS NOT NULL AS is_refusal, at
    FROM access_record
    WHERE id >= first_id_of(taken.at) AND id < first_id_of(taken.at + interval '1 millisecond')
      AND writer = taken.writer AND seq = taken.seq
  ) AS r
  GROUP BY 1, 2, 3, 4, 5, 6
),
added AS (
  INSERT INTO access_day AS kept (user_ref, grant_id, day, client_id, scope, endpoint, recorded, refused,
    recorded_by_quarter, refused_by_quarter, last_at)
  SELECT *
  FROM counted
  ORDER BY user_ref, grant_id, day, client_id, scope, endpoint
  ON CONFLICT (user_ref, grant_id, day, client_id, scope, endpoint) DO UPDATE SET
    recorded = kept.recorded + excluded.recorded,
    refused  = kept.refused + excluded.refused,
    recorded_by_quarter = add_quarters(kept.recorded_by_quarter, excluded.recorded_by_quarter),
    refused_by_quarter  = add_quarters(kept.refused_by_quarter, excluded.refused_by_quarter),
    last_at  = greatest(kept.last_at, excluded.last_at)
),
added_to_apps AS (
  INSERT INTO app_day AS kept (client_id, day, endpoint, recorded, refused)
  SELECT client_id, day, endpoint, sum(recorded), sum(refused)
  FROM counted
  GROUP BY client_id, day, endpoint
  ORDER BY client_id, day, endpoint
  ON CONFLICT (client_id, day, endpoint) DO UPDATE SET
    recorded = kept.recorded + excluded.recorded,
    refused  = kept.refused + excluded.refused
)
SELECT count(*)::int AS taken
FROM taken;
