-- Makes one of the partitions that are missing: of this month, of the months that follow, or of a past month of which records are in
-- the default partition. Answers 1, or 0 when none is missing. A month that needs no move comes first, then the oldest.
-- Records of the month that are in the default partition move with it. The table is filled beside the others and attached, which
-- locks out nobody who records; who reads waits for the default partition, from the first lock below to the commit.
CREATE OR REPLACE FUNCTION "ensure_access_partitions"(months_ahead integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp SET lock_timeout = '3s' SET timezone = 'UTC' AS $$
DECLARE
  present timestamptz := date_trunc('month', now());
  last_month timestamptz := present + make_interval(months => least(months_ahead, 24));
  month timestamptz;
  next_month timestamptz;
  batches text;
  records text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('consent access partitions', 0));
  SELECT w.start INTO month FROM (
      SELECT generate_series(present, last_month, interval '1 month') AS start
      UNION
      SELECT date_trunc('month', time_of_id((SELECT d.id FROM access_record_default d ORDER BY d.id LIMIT 1)))
    ) w
    WHERE w.start <= last_month AND to_regclass('access_record_' || to_char(w.start, 'YYYY_MM')) IS NULL
    ORDER BY EXISTS (SELECT FROM access_record_default d
      WHERE d.id >= first_id_of(w.start) AND d.id < first_id_of(w.start + interval '1 month')), w.start
    LIMIT 1;
  IF month IS NULL THEN RETURN 0; END IF;
  next_month := month + interval '1 month';
  batches := 'access_batch_' || to_char(month, 'YYYY_MM');
  records := 'access_record_' || to_char(month, 'YYYY_MM');
  EXECUTE format('CREATE TABLE %I (LIKE access_batch INCLUDING ALL)', batches);
  EXECUTE format('CREATE TABLE %I (LIKE access_record INCLUDING ALL)', records);
  EXECUTE format('INSERT INTO %I SELECT * FROM access_batch_default d WHERE d.at >= $1 AND d.at < $2', batches)
    USING month, next_month;
  EXECUTE format('INSERT INTO %I SELECT * FROM access_record_default d WHERE d.id >= $1 AND d.id < $2', records)
    USING first_id_of(month), first_id_of(next_month);
  -- From here on readers wait, and whoever records into the default partition: for less than a call may wait for its batch.
  PERFORM set_config('lock_timeout', '250ms', true);
  LOCK TABLE access_batch_default, access_record_default IN ACCESS EXCLUSIVE MODE;
  IF EXISTS (SELECT FROM access_batch_default d WHERE d.at >= month AND d.at < next_month) THEN
    -- The triggers that keep the tables append-only, also against their owner, are off for this transaction alone.
    ALTER TABLE access_batch_default DISABLE TRIGGER append_only;
    ALTER TABLE access_record_default DISABLE TRIGGER append_only;
    -- What was recorded since the copy is added to it.
    EXECUTE format('WITH moved AS (DELETE FROM access_batch_default d WHERE d.at >= $1 AND d.at < $2 RETURNING *)
      INSERT INTO %I SELECT * FROM moved ON CONFLICT DO NOTHING', batches) USING month, next_month;
    EXECUTE format('WITH moved AS (DELETE FROM access_record_default d WHERE d.id >= $1 AND d.id < $2 RETURNING *)
      INSERT INTO %I SELECT * FROM moved ON CONFLICT DO NOTHING', records)
      USING first_id_of(month), first_id_of(next_month);
    ALTER TABLE access_batch_default ENABLE TRIGGER append_only;
    ALTER TABLE access_record_default ENABLE TRIGGER append_only;
  END IF;
  EXECUTE format('ALTER TABLE access_batch ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', batches, month, next_month);
  EXECUTE format('ALTER TABLE access_record ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', records,
    first_id_of(month), first_id_of(next_month));
  PERFORM make_append_only(batches::regclass, '');
  PERFORM make_append_only(records::regclass, '');
  RETURN 1;
END
$$;
