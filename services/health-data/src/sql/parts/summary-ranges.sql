-- The metric types and ranges of every summary. The values are those of aggregation.sql.
metric AS MATERIALIZED (
  SELECT *
  FROM unnest($3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[]) WITH ORDINALITY
    AS metric(type, kind, keyed_by, low, high, ordinal)
),
-- No interval is longer than a day, so a reading that counts by its end starts at most that long before the range.
reading_range AS MATERIALIZED (
  SELECT keyed_by, lower, upper,
    greatest(
      $8::timestamptz,
      lower - CASE keyed_by WHEN 'end' THEN interval '24 hours' ELSE interval '0' END
    ) AS earliest
  FROM unnest($9::text[], $10::timestamptz[], $11::timestamptz[]) AS reading_range(keyed_by, lower, upper)
),
quarter_range AS MATERIALIZED (
  SELECT *
  FROM unnest($12::text[], $13::timestamptz[], $14::timestamptz[]) AS quarter_range(keyed_by, lower, upper)
),
