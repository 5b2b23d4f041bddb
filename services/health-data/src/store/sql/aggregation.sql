-- A summary for each metric type with readings; a single row without a type when there are none or rollups are
-- unusable.
--
-- Readings, hours and spans of the cover (domain/summary-cover.ts) are disjoint, so each is summed up for itself and
-- the sums are added. MATERIALIZED and OFFSET 0 keep the lookups apart, so that each range finds its rows by its own
-- bounds, however many rows the planner expects.
--
-- Indexes: reading_pkey, hour_rollup_pkey, day_rollup_pkey, rollup_state_pkey.
-- Values:  $1 user, $2 zone, $3 version of the rollups,
--          $4 to $8 metric types: key, kind, what counts (start or end), reference range,
--          $9 no reading that starts earlier counts, $10 to $12 ranges of readings,
--          $13 to $16 ranges of whole days, months and years in rollups, $17 to $19 ranges of whole hours in rollups,
--          $20 zone that the rollups must be of,
--          $21 and $22 bounds between which the newest reading is looked for.
WITH
metric AS MATERIALIZED (
  SELECT *
  FROM unnest($4::text[], $5::text[], $6::text[], $7::float8[], $8::float8[]) WITH ORDINALITY
    AS metric(type, kind, keyed_by, low, high, ordinal)
),
-- No interval is longer than a day, so a reading that counts by its end starts at most that long before the range.
reading_range AS MATERIALIZED (
  SELECT keyed_by, lower, upper,
    greatest(
      $9::timestamptz,
      lower - CASE keyed_by WHEN 'end' THEN interval '24 hours' ELSE interval '0' END
    ) AS earliest
  FROM unnest($10::text[], $11::timestamptz[], $12::timestamptz[]) AS reading_range(keyed_by, lower, upper)
),
-- Whether rollups of this version and of the zone of the cover exist, where any are asked for, and of which zone they
-- are. Part of the statement, so that it is true of the snapshot that is read. Without usable rollups no range is left.
rollups AS MATERIALIZED (
  SELECT cardinality($13::text[] || $17::text[]) = 0 OR coalesce(time_zone = $20, false) AS usable, time_zone
  FROM (VALUES ($1)) AS person(user_id)
  LEFT JOIN rollup_state ON rollup_state.user_id = person.user_id AND version = $3
),
span_range AS MATERIALIZED (
  SELECT span_range.*
  FROM unnest($13::text[], $14::text[], $15::date[], $16::date[]) AS span_range(keyed_by, span, lower, upper), rollups
  WHERE usable
),
hour_range AS MATERIALIZED (
  SELECT hour_range.*
  FROM unnest($17::text[], $18::timestamptz[], $19::timestamptz[]) AS hour_range(keyed_by, lower, upper), rollups
  WHERE usable
),
-- The days that the spans cover together. timezone() means the second of two midnights that an autumn night calls by
-- the same name; the CASE goes back to the first.
whole_days AS MATERIALIZED (
  SELECT keyed_by, lower, upper,
    timezone($2, lower::timestamp)
      - CASE WHEN timezone($2, timezone($2, lower::timestamp) - interval '1 hour') = lower::timestamp
          THEN interval '1 hour' ELSE interval '0' END AS first_hour,
    timezone($2, upper::timestamp)
      - CASE WHEN timezone($2, timezone($2, upper::timestamp) - interval '1 hour') = upper::timestamp
          THEN interval '1 hour' ELSE interval '0' END AS end_hour
  FROM (SELECT keyed_by, min(lower) AS lower, max(upper) AS upper FROM span_range GROUP BY keyed_by) AS covered
),
-- Readings of additive types by source. Of a slot (the hour; for sleep the local date of waking up) only the source
-- with the largest sum counts, the first by name of equal ones: a second device counted the same steps again.
-- date_trunc() with a zone keeps apart the two hours that an autumn night calls by the same name.
source_hour AS (
  SELECT type, source, date_trunc('hour', at, $2) AS hour,
    date_trunc(CASE keyed_by WHEN 'end' THEN 'day' ELSE 'hour' END, at, $2) AS slot,
    count(*) AS count, sum(value) AS sum, min(value) AS min, max(value) AS max
  FROM metric
  JOIN reading_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT source, value, CASE keyed_by WHEN 'end' THEN end_at ELSE start_at END AS at
    FROM reading
    WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= earliest AND start_at < upper
      AND (keyed_by = 'start' OR (end_at >= lower AND end_at < upper))
    OFFSET 0
  ) AS reading
  WHERE kind = 'additive'
  GROUP BY 1, 2, 3, 4
),
summed_source AS (
  SELECT *, sum(sum) OVER (PARTITION BY type, slot, source) AS source_sum
  FROM source_hour
),
ranked_source AS (
  SELECT *, rank() OVER (PARTITION BY type, slot ORDER BY round(source_sum::numeric, 3) DESC, source) AS source_rank
  FROM summed_source
),
additive_hour AS (
  SELECT type, hour, count, sum, min, max
  FROM ranked_source
  WHERE source_rank = 1
  UNION ALL
  SELECT type, rollup.*
  FROM metric
  JOIN hour_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT hour, count, sum, min, max
    FROM hour_rollup
    WHERE user_id = $1 AND type = metric.type AND hour >= lower AND hour < upper
    OFFSET 0
  ) AS rollup
  WHERE kind = 'additive'
),
-- The part that all summaries share ends here.
-- The sum of a day is rounded before it is compared: binary noise must not put a total below a limit that it meets.
additive_day AS (
  SELECT type, low, high, timezone($2, hour)::date AS day, round(sum(sum)::numeric, 3)::float8 AS value
  FROM additive_hour
  JOIN metric USING (type)
  GROUP BY 1, 2, 3, 4
),
part AS (
  SELECT type, count(*) AS count, sum(value) AS sum, min(value) AS min, max(value) AS max,
    count(*) FILTER (WHERE value < low) AS below, count(*) FILTER (WHERE value > high) AS above
  FROM metric
  JOIN reading_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT value
    FROM reading
    WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= earliest AND start_at < upper
      AND (keyed_by = 'start' OR (end_at >= lower AND end_at < upper))
    OFFSET 0
  ) AS reading
  WHERE kind = 'average'
  GROUP BY type
  UNION ALL
  SELECT type, rollup.*
  FROM metric
  JOIN hour_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT sum(count), sum(sum), min(min), max(max), sum(below), sum(above)
    FROM hour_rollup
    WHERE user_id = $1 AND type = metric.type AND hour >= lower AND hour < upper
    HAVING count(*) > 0
    OFFSET 0
  ) AS rollup
  WHERE kind = 'average'
  UNION ALL
  SELECT type, 1, value, value, value, coalesce((value < low)::int, 0), coalesce((value > high)::int, 0)
  FROM additive_day
  UNION ALL
  -- A month and longer describe an additive type by its days; a day is described by its sum.
  SELECT type, rollup.*
  FROM metric
  JOIN span_range USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT sum(CASE kind WHEN 'additive' THEN days ELSE count END), sum(sum),
      min(CASE WHEN kind = 'additive' AND span_range.span = 'day' THEN sum ELSE min END),
      max(CASE WHEN kind = 'additive' AND span_range.span = 'day' THEN sum ELSE max END), sum(below), sum(above)
    FROM day_rollup
    WHERE user_id = $1 AND type = metric.type AND span = span_range.span AND start_on >= lower AND start_on < upper
    HAVING count(*) > 0
    OFFSET 0
  ) AS rollup
),
summary AS (
  SELECT type, sum(count)::int AS count, sum(sum) AS sum, min(min) AS min, max(max) AS max, sum(below)::int AS below,
    sum(above)::int AS above
  FROM part
  GROUP BY type
),
day_total AS (
  SELECT type, day, value
  FROM additive_day
  UNION ALL
  SELECT type, start_on, sum
  FROM metric
  JOIN whole_days USING (keyed_by)
  CROSS JOIN LATERAL (
    SELECT start_on, sum
    FROM day_rollup
    WHERE user_id = $1 AND type = metric.type AND span = 'day' AND start_on >= lower AND start_on < upper
    ORDER BY start_on DESC
    LIMIT 1
  ) AS rollup
  WHERE kind = 'additive'
),
newest_day AS (
  SELECT DISTINCT ON (type) type,
    timezone($2, day::timestamp)
      - CASE WHEN timezone($2, timezone($2, day::timestamp) - interval '1 hour') = day::timestamp
          THEN interval '1 hour' ELSE interval '0' END AS at,
    value
  FROM day_total
  ORDER BY type, day DESC
),
newest_reading AS (
  SELECT metric.type, start_at AS at, value
  FROM metric
  CROSS JOIN LATERAL (
    SELECT *
    FROM (
      SELECT id, type, value, source, start_at, end_at
      FROM reading
      WHERE user_id = $1 AND type = metric.type AND value IS NOT NULL AND start_at >= $21 AND start_at < $22
      ORDER BY start_at DESC
      FETCH FIRST 1 ROWS WITH TIES
    ) AS tied
    ORDER BY start_at DESC, type COLLATE "C", source COLLATE "C", end_at DESC, id
    LIMIT 1
  ) AS newest
  WHERE kind = 'average'
),
newest AS (
  SELECT * FROM newest_day
  UNION ALL
  SELECT * FROM newest_reading
)
SELECT usable, time_zone, summary.*, newest.at, newest.value AS latest
FROM rollups
LEFT JOIN (summary JOIN newest USING (type)) ON true;
