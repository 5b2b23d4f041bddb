-- Writes a batch of access records. One statement, so a batch is there with all of its records or not at all, and is
-- uncounted from then on.
--
-- Answers no row; or the clock of the database, where the time of the batch, by the clock of this process, is more than
-- $21 milliseconds away from it, and then nothing is written.
--
-- Indexes: none; rows are only inserted.
-- Values:  $1 to $7 the batch: writer, number, time, records, digests, hash of the previous batch and its own,
--          $8 to $20 columns of its records, $21 how far the clocks may differ.
WITH
batch AS (
  INSERT INTO access_batch (writer, seq, at, record_count, digests, previous_hash, hash)
  SELECT $1::uuid, $2::bigint, $3, $4::int, $5::bytea, $6::bytea, $7::bytea
  WHERE abs(extract(epoch FROM $3::timestamptz - statement_timestamp())) * 1000 <= $21::float8
),
uncounted AS (
  INSERT INTO access_uncounted (writer, seq, at)
  SELECT $1, $2, $3
  WHERE abs(extract(epoch FROM $3::timestamptz - statement_timestamp())) * 1000 <= $21::float8
),
records AS (
  INSERT INTO access_record (id, writer, seq, ordinal, at, user_ref, client_id, grant_id, scope, endpoint, window_from,
    window_to, page, record_count, request_id, refers_to, verdict)
  SELECT id, $1, $2, item.ordinal - 1, $3, user_ref, client_id, grant_id, scope, endpoint, window_from,
    window_to, page, record_count, request_id, refers_to, verdict
  FROM unnest($8::uuid[], $9::uuid[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
      $16::int[], $17::int[], $18::text[], $19::uuid[], $20::text[]) WITH ORDINALITY
    AS item(id, user_ref, client_id, grant_id, scope, endpoint, window_from, window_to,
      page, record_count, request_id, refers_to, verdict, ordinal)
  WHERE abs(extract(epoch FROM $3::timestamptz - statement_timestamp())) * 1000 <= $21::float8
)
SELECT statement_timestamp()
WHERE NOT abs(extract(epoch FROM $3::timestamptz - statement_timestamp())) * 1000 <= $21::float8;
