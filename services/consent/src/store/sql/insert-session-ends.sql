-- Stores the ends of sessions. In the order of the values, so that concurrent calls cannot deadlock.
--
-- Indexes: session_end_pkey.
-- Values:  $1 kinds, $2 hashes, $3 time of all.
INSERT INTO session_end (kind, value_hash, ended_at)
SELECT n.kind, n.value_hash, $3
FROM unnest($1::text[], $2::bytea[]) WITH ORDINALITY AS n(kind, value_hash, ordinal)
ORDER BY n.ordinal
ON CONFLICT (kind, value_hash, ended_at) DO NOTHING;
