-- The metric types, the ranges and the hours of additive types, of every summary. The values are those of aggregation.sql.
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
