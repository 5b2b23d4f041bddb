-- Dropping a month holds up the recording only as long as it takes to change the catalogue.

-- Found at once by whoever reads counts: those of days before are no longer told.
CREATE INDEX "access_dropped_kept_from_idx" ON "consent_audit"."access_dropped"("kept_from");

-- Drops the partitions of the oldest month, if it ended before the days to keep; answers its name, or nothing. Whatever the
-- caller says, 90 days stay. What was counted of it goes by delete_dropped_counts.
CREATE OR REPLACE FUNCTION "drop_access_partitions"(keep_days integer) RETURNS SETOF text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp SET lock_timeout = '3s' SET timezone = 'UTC' AS $$
DECLARE
  suffix text;
  next_month timestamptz;
BEGIN
  IF keep_days IS NULL OR keep_days < 90 THEN RAISE EXCEPTION 'records are kept for 90 days at least'; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('consent access partitions', 0));
  SELECT min(right(inhrelid::regclass::text, 7)) INTO suffix FROM pg_inherits
    WHERE inhparent = 'access_record'::regclass AND inhrelid <> 'access_record_default'::regclass;
  next_month := to_timestamp(suffix, 'YYYY_MM') + interval '1 month';
  IF suffix IS NULL OR next_month > now() - make_interval(days => keep_days) THEN RETURN; END IF;
  -- Of the partitions alone: nobody adds to what is read here, vacuum is out of the way, and everybody else goes on.
  EXECUTE format('LOCK TABLE %I, %I IN SHARE MODE', 'access_record_' || suffix, 'access_batch_' || suffix);
  -- Leaps from writer to writer in the index, whatever the number of batches.
  EXECUTE format('INSERT INTO consent_audit.access_dropped (writer, seq, at, hash, kept_from)
    WITH RECURSIVE chain AS (
      (SELECT writer FROM %1$I ORDER BY writer LIMIT 1)
      UNION ALL
      SELECT (SELECT b.writer FROM %1$I b WHERE b.writer > chain.writer ORDER BY b.writer LIMIT 1)
      FROM chain WHERE chain.writer IS NOT NULL
    )
    SELECT head.writer, head.seq, head.at, head.hash, %2$L::timestamptz
    FROM chain CROSS JOIN LATERAL (
      SELECT * FROM %1$I b WHERE b.writer = chain.writer ORDER BY b.seq DESC LIMIT 1) head',
    'access_batch_' || suffix, next_month);
  -- From here on everybody who records waits: for less than a call may wait for its batch, also where somebody reads for long.
  PERFORM set_config('lock_timeout', '250ms', true);
  EXECUTE format('DROP TABLE %I, %I', 'access_record_' || suffix, 'access_batch_' || suffix);
  RETURN NEXT suffix;
END
$$;

-- Deletes some of the counts of months that were dropped, from an app and a day on; answers where to go on, of which the app is
-- NULL at the end. It takes no days to keep: what was not dropped stays, and 90 days stay whatever is said to have been dropped.
-- Goes by an index that is there anyway, and never back over what it has deleted already.
CREATE FUNCTION "delete_dropped_counts"(INOUT app text, INOUT of_day date)
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp SET timezone = 'UTC' SET enable_seqscan = off AS $$
DECLARE
  first_kept date;
  room integer := 5000;
  deleted integer;
BEGIN
  SELECT max(kept_from)::date INTO first_kept FROM consent_audit.access_dropped;
  IF first_kept IS NULL THEN app := NULL; RETURN; END IF;
  first_kept := least(first_kept, (now() - interval '90 days')::date);
  LOOP
    SELECT d.day INTO of_day FROM access_day d
      WHERE d.client_id = app AND d.day >= of_day AND d.day < first_kept ORDER BY d.day LIMIT 1;
    IF FOUND THEN
      DELETE FROM access_day WHERE ctid = ANY (ARRAY(SELECT d.ctid FROM access_day d
        WHERE d.client_id = app AND d.day = of_day LIMIT room FOR UPDATE SKIP LOCKED));
      GET DIAGNOSTICS deleted = ROW_COUNT;
      room := room - deleted;
      EXIT WHEN room = 0;
      of_day := of_day + 1;
    ELSE
      SELECT d.client_id INTO app FROM access_day d WHERE d.client_id > app ORDER BY d.client_id LIMIT 1;
      EXIT WHEN app IS NULL;
      of_day := '-infinity';
    END IF;
  END LOOP;
END
$$;

REVOKE ALL ON FUNCTION "delete_dropped_counts"(text, date) FROM PUBLIC;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    REVOKE DELETE, TRUNCATE ON "access_day" FROM "phds_consent";
    GRANT EXECUTE ON FUNCTION "delete_dropped_counts"(text, date) TO "phds_consent";
  END IF;
END
$$;
