-- Counts of access_day for each app, so that the usage of an app does not add up its users (docs/decisions/0010).
CREATE TABLE "app_day" (
    "client_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "endpoint" TEXT NOT NULL,
    "recorded" BIGINT NOT NULL,
    "refused" BIGINT NOT NULL,

    CONSTRAINT "app_day_pkey" PRIMARY KEY ("client_id","day","endpoint")
);

-- The first day that app_day has of an app; null for all days. None of those that exist now: add_up_app_day adds their days.
ALTER TABLE "app" ADD COLUMN "app_days_from" DATE DEFAULT '9999-12-31';
-- contract: the statement above added the default for existing rows alone, and no release uses it since 0.1.0
ALTER TABLE "app" ALTER COLUMN "app_days_from" DROP DEFAULT;

-- Triggers, so that the release before counts here too, and the counts of dropped months go. Whoever changes app_day has the lock until the
-- commit: two counters change the same few rows, in two statements, so that row locks alone could wait for each other.
CREATE FUNCTION "change_app_day"() RETURNS trigger LANGUAGE plpgsql SET search_path = consent, pg_temp AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('consent app days', 0));
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO app_day AS kept (client_id, day, endpoint, recorded, refused)
    SELECT client_id, day, endpoint, sum(recorded), sum(refused) FROM added GROUP BY 1, 2, 3
    ON CONFLICT (client_id, day, endpoint) DO UPDATE SET
      recorded = kept.recorded + excluded.recorded, refused = kept.refused + excluded.refused;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    UPDATE app_day AS kept SET recorded = kept.recorded - gone.recorded, refused = kept.refused - gone.refused
    FROM (SELECT client_id, day, endpoint, sum(recorded) AS recorded, sum(refused) AS refused FROM removed GROUP BY 1, 2, 3) gone
    WHERE kept.client_id = gone.client_id AND kept.day = gone.day AND kept.endpoint = gone.endpoint;
    -- A subquery with LIMIT is always a look-up in the index, whatever the planner thinks of the number of rows.
    DELETE FROM app_day AS kept USING (SELECT DISTINCT client_id, day FROM removed) gone
    WHERE kept.client_id = gone.client_id AND kept.day = gone.day
      AND (SELECT 1 FROM access_day d WHERE d.client_id = gone.client_id AND d.day = gone.day LIMIT 1) IS NULL;
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER "access_day_added" AFTER INSERT ON "access_day"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "change_app_day"();
CREATE TRIGGER "access_day_changed" AFTER UPDATE ON "access_day"
  REFERENCING OLD TABLE AS "removed" NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "change_app_day"();
CREATE TRIGGER "access_day_removed" AFTER DELETE ON "access_day"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "change_app_day"();

-- Adds up the newest missing day of some app; answers whether there was one. Sums in a snapshot of after the lock, so what another
-- transaction counts is in the sum, or is added after it.
CREATE FUNCTION "add_up_app_day"() RETURNS boolean
  LANGUAGE plpgsql SET search_path = consent, pg_temp SET enable_seqscan = off AS $$
DECLARE
  app_id text;
  missing_before date;
  missing date;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('consent app days', 0));
  SELECT client_id, app_days_from INTO app_id, missing_before FROM app WHERE app_days_from IS NOT NULL LIMIT 1;
  IF app_id IS NULL THEN RETURN false; END IF;
  SELECT max(day) INTO missing FROM access_day WHERE client_id = app_id AND day < missing_before;
  INSERT INTO app_day (client_id, day, endpoint, recorded, refused)
  SELECT client_id, day, endpoint, sum(recorded), sum(refused)
  FROM access_day WHERE client_id = app_id AND day = missing GROUP BY 1, 2, 3
  ON CONFLICT (client_id, day, endpoint) DO UPDATE SET recorded = excluded.recorded, refused = excluded.refused;
  UPDATE app SET app_days_from = missing WHERE client_id = app_id;
  RETURN true;
END
$$;
