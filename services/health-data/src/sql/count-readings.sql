-- How many readings of some metric types there are, by the counts that are kept.
--
-- Indexes: reading_count_pkey.
-- Values:  $1 user, $2 metric types, $3 span that is added up: 'all' or 'day', $4 the first of these spans.
SELECT coalesce(sum(count), 0)::float8 AS total
FROM reading_count
WHERE user_id = $1 AND type = ANY($2::text[]) AND span = $3 AND start_at >= $4::timestamptz;
