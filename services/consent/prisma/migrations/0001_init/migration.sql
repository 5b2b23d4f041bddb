-- CreateTable
CREATE TABLE "app" (
    "client_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "profile" JSONB NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "status_changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lock_kind" TEXT,
    "lock_reason" TEXT,
    "locked_at" TIMESTAMPTZ(3),
    "unlocked_status" TEXT,
    "anonymous_openings" BIGINT NOT NULL DEFAULT 0,
    "profile_updated_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "app_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "app_epoch" (
    "client_id" TEXT NOT NULL,
    "epoch" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_epoch_pkey" PRIMARY KEY ("client_id","epoch")
);

-- CreateTable
CREATE TABLE "app_profile" (
    "client_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "since" TIMESTAMPTZ(3) NOT NULL,
    "profile" JSONB NOT NULL,

    CONSTRAINT "app_profile_pkey" PRIMARY KEY ("client_id","version")
);

-- CreateTable
CREATE TABLE "pending_approval" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "app_epoch" INTEGER NOT NULL,
    "redirect_host" TEXT NOT NULL,
    "scopes" TEXT[],
    "purpose" TEXT NOT NULL,
    "client_authenticated" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "extensions" INTEGER NOT NULL DEFAULT 0,
    "claimed_by" TEXT,
    "decision" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "approved_scopes" TEXT[],
    "approved_days" INTEGER,
    "approved_data_from" DATE,
    "grant_id" TEXT,
    "grant_expires_at" TIMESTAMPTZ(3),
    "anonymous_number" BIGINT,
    "network" TEXT NOT NULL DEFAULT '',
    "shown_app" JSONB NOT NULL,

    CONSTRAINT "pending_approval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "person" (
    "user_id" TEXT NOT NULL,
    "user_ref" UUID NOT NULL DEFAULT gen_random_uuid(),

    CONSTRAINT "person_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "consent_grant" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "user_ref" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "app_epoch" INTEGER NOT NULL,
    "scopes" TEXT[],
    "granted_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "data_from" DATE,
    "revoked_at" TIMESTAMPTZ(3),
    "revoked_by" TEXT,
    "closed_at" TIMESTAMPTZ(3),
    "deletion_requested_at" TIMESTAMPTZ(3),
    "restore_number" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "consent_grant_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "consent_event" (
    "id" UUID NOT NULL,
    "grant_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "kind" TEXT NOT NULL,
    "pending_id" TEXT,
    "purpose" TEXT NOT NULL DEFAULT '',
    "language" TEXT NOT NULL DEFAULT '',
    "shown" JSONB NOT NULL DEFAULT '[]',
    "scopes" TEXT[],
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "data_from" DATE,
    "shown_app" JSONB,

    CONSTRAINT "consent_event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "revoked_family" (
    "family_id" TEXT NOT NULL,
    "revoked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "revoked_family_pkey" PRIMARY KEY ("family_id")
);

-- CreateTable
CREATE TABLE "revoked_token" (
    "token_hash" BYTEA NOT NULL,
    "revoked_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "revoked_token_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "session_end" (
    "kind" TEXT NOT NULL,
    "value_hash" BYTEA NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "session_end_pkey" PRIMARY KEY ("kind","value_hash","ended_at")
);

-- CreateTable
CREATE TABLE "access_uncounted" (
    "writer" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "access_uncounted_pkey" PRIMARY KEY ("writer","seq")
);

-- CreateTable
CREATE TABLE "access_day" (
    "user_ref" UUID NOT NULL,
    "grant_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "recorded" INTEGER NOT NULL,
    "refused" INTEGER NOT NULL,
    "recorded_by_quarter" INTEGER[],
    "refused_by_quarter" INTEGER[],
    "last_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_day_pkey" PRIMARY KEY ("user_ref","grant_id","day","client_id","scope","endpoint")
);

-- CreateTable
CREATE TABLE "app_day" (
    "client_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "endpoint" TEXT NOT NULL,
    "recorded" BIGINT NOT NULL,
    "refused" BIGINT NOT NULL,

    CONSTRAINT "app_day_pkey" PRIMARY KEY ("client_id","day","endpoint")
);

-- CreateTable
CREATE TABLE "refused_request" (
    "client_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "endpoint" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,
    "without_key" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "refused_request_pkey" PRIMARY KEY ("client_id","day","endpoint","status")
);

-- CreateTable
CREATE TABLE "refused_read" (
    "grant_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "refused_read_pkey" PRIMARY KEY ("grant_id","day")
);

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "id" TEXT NOT NULL,
    "client_id" TEXT,
    "url" TEXT NOT NULL,
    "events" TEXT[],
    "secret_version" INTEGER NOT NULL DEFAULT 1,
    "previous_secret_until" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "retry_at" TIMESTAMPTZ(3),
    "paused_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_event" (
    "id" TEXT NOT NULL DEFAULT ('evt_'::text || replace((gen_random_uuid())::text, '-'::text, ''::text)),
    "number" BIGSERIAL NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "grant_id" TEXT,
    "sub_hash" BYTEA,
    "type" TEXT NOT NULL,
    "content" JSONB NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease" UUID,

    CONSTRAINT "webhook_event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_attempt" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "event_id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "status" INTEGER,
    "failure" TEXT,
    "ms" INTEGER NOT NULL,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_fanout" (
    "client_id" TEXT NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,
    "place_at" TIMESTAMPTZ(3),
    "place_id" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "webhook_fanout_pkey" PRIMARY KEY ("client_id","ended_at")
);

-- CreateTable
CREATE TABLE "webhook_scan" (
    "days_left" INTEGER NOT NULL,
    "place_at" TIMESTAMPTZ(3) NOT NULL,
    "place_id" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "webhook_scan_pkey" PRIMARY KEY ("days_left")
);

-- CreateIndex
CREATE INDEX "app_owner_id_idx" ON "app"("owner_id");

-- CreateIndex
CREATE INDEX "pending_approval_claimed_by_created_at_idx" ON "pending_approval"("claimed_by", "created_at");

-- CreateIndex
CREATE INDEX "pending_approval_client_id_expires_at_idx" ON "pending_approval"("client_id", "expires_at");

-- CreateIndex
CREATE INDEX "pending_approval_created_at_idx" ON "pending_approval"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "person_user_ref_key" ON "person"("user_ref");

-- CreateIndex
CREATE INDEX "consent_grant_user_id_granted_at_id_idx" ON "consent_grant"("user_id", "granted_at", "id");

-- CreateIndex
CREATE INDEX "consent_grant_client_id_granted_at_id_idx" ON "consent_grant"("client_id", "granted_at", "id");

-- CreateIndex
CREATE INDEX "consent_grant_expires_at_id_idx" ON "consent_grant"("expires_at", "id");

-- CreateIndex
CREATE INDEX "consent_event_grant_id_at_idx" ON "consent_event"("grant_id", "at");

-- CreateIndex
CREATE INDEX "revoked_family_expires_at_idx" ON "revoked_family"("expires_at");

-- CreateIndex
CREATE INDEX "revoked_token_expires_at_idx" ON "revoked_token"("expires_at");

-- CreateIndex
CREATE INDEX "session_end_recorded_at_idx" ON "session_end"("recorded_at");

-- CreateIndex
CREATE INDEX "access_day_day_idx" ON "access_day"("day");

-- CreateIndex
CREATE INDEX "app_day_day_idx" ON "app_day"("day");

-- CreateIndex
CREATE INDEX "refused_request_day_idx" ON "refused_request"("day");

-- CreateIndex
CREATE INDEX "refused_read_day_idx" ON "refused_read"("day");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_endpoint_client_id_key" ON "webhook_endpoint"("client_id");

-- CreateIndex
CREATE INDEX "webhook_event_endpoint_id_number_idx" ON "webhook_event"("endpoint_id", "number");

-- CreateIndex
CREATE INDEX "webhook_event_grant_id_number_idx" ON "webhook_event"("grant_id", "number");

-- CreateIndex
CREATE INDEX "webhook_event_created_at_idx" ON "webhook_event"("created_at");

-- CreateIndex
CREATE INDEX "webhook_attempt_event_id_at_idx" ON "webhook_attempt"("event_id", "at");

-- AddForeignKey
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "webhook_event"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What follows has no words in schema.prisma.

-- One grant at a time may be joined by a new approval.
CREATE UNIQUE INDEX "consent_grant_open_key" ON "consent_grant"("user_id", "client_id") WHERE "closed_at" IS NULL;
-- Finds the oldest that may give way without looking at the others.
CREATE INDEX "pending_approval_anonymous_idx" ON "pending_approval"("client_id", "anonymous_number")
  WHERE "claimed_by" IS NULL AND "anonymous_number" IS NOT NULL;

ALTER TABLE "app"
  ADD CONSTRAINT "app_status_check" CHECK ("status" IN ('active', 'suspended', 'revoked')),
  -- An operator's lock of an app.
  ADD CONSTRAINT "app_lock_check" CHECK ("lock_kind" IS NULL OR "status" <> 'active');
ALTER TABLE "pending_approval"
  ADD CONSTRAINT "pending_approval_decision_check" CHECK ("decision" IN ('approved', 'denied')),
  ADD CONSTRAINT "pending_approval_decided_check"
    CHECK (("decision" IS NULL) = ("decided_at" IS NULL) AND ("decision" IS NULL OR "claimed_by" IS NOT NULL));
ALTER TABLE "consent_grant"
  ADD CONSTRAINT "consent_grant_scopes_check" CHECK (cardinality("scopes") > 0),
  ADD CONSTRAINT "consent_grant_closed_check" CHECK ("revoked_at" IS NULL OR "closed_at" IS NOT NULL);
ALTER TABLE "consent_event"
  ADD CONSTRAINT "consent_event_kind_check" CHECK ("kind" IN ('granted', 'narrowed', 'revoked', 'deletion_requested')),
  ADD CONSTRAINT "consent_event_granted_check" CHECK (CASE "kind" WHEN 'granted' THEN "pending_id" IS NOT NULL AND "shown_app" IS NOT NULL
    ELSE "pending_id" IS NULL AND "shown_app" IS NULL END);
ALTER TABLE "session_end"
  ADD CONSTRAINT "session_end_kind_check" CHECK ("kind" IN ('token', 'sid', 'subject', 'subject_without_sid'));

-- History is changed by nobody: the trigger stops the owner's slips, the privileges the service itself.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER "consent_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "consent_event"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- Closes a table to changes: by a trigger of its own, since those of a partitioned table do not watch over its partitions,
-- and by taking the runtime role the rights that it has on every table of the schema.
CREATE FUNCTION "make_append_only"(relation regclass, may text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %s
    FOR EACH STATEMENT EXECUTE FUNCTION consent.refuse_change()', relation);
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    EXECUTE format('REVOKE ALL ON %s FROM phds_consent', relation);
    IF may <> '' THEN EXECUTE format('GRANT %s ON %s TO phds_consent', may, relation); END IF;
  END IF;
END
$$;

-- What identifies a person to one app, as a number of 128 bits: the `sub` of the OAuth interface. The reference of a person is random, no
-- app ever gets it, and an erasure removes it. So apps cannot compare their numbers, and a person who returns after an erasure has others.
CREATE FUNCTION "sub_hash"("user_ref" UUID, "client_id" TEXT) RETURNS BYTEA LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN substr(sha256(uuid_send("user_ref") || convert_to("client_id", 'UTF8')), 1, 16);

CREATE INDEX "consent_grant_sub_idx" ON "consent_grant" ("sub_hash"("user_ref", "client_id"));

-- The app as the latest approval of a grant up to a time showed it, as JSON. Before the first approval, which only a clock that differs can
-- say, as the first one showed it. NULL when there is no such grant.
-- The access history, the list of consents and the export of records name apps by it.
CREATE FUNCTION "shown_app_of"("of_grant" TEXT, "until" TIMESTAMPTZ) RETURNS JSONB LANGUAGE sql STABLE
  RETURN coalesce(
    (
      SELECT "shown_app"
      FROM "consent_event"
      WHERE "grant_id" = "of_grant" AND "at" <= "until" AND "kind" = 'granted'
      ORDER BY "at" DESC
      LIMIT 1
    ),
    (
      SELECT "shown_app"
      FROM "consent_event"
      WHERE "grant_id" = "of_grant" AND "kind" = 'granted'
      ORDER BY "at"
      LIMIT 1
    )
  );

-- Webhooks.

-- What is due at an endpoint: `data.updated` apart, so that the other events are found at once however many of it are waiting.
CREATE INDEX "webhook_event_due_data_idx" ON "webhook_event"("endpoint_id", "next_attempt_at")
  WHERE "state" = 'pending' AND "type" = 'data.updated';
CREATE INDEX "webhook_event_due_other_idx" ON "webhook_event"("endpoint_id", "next_attempt_at")
  WHERE "state" = 'pending' AND "type" <> 'data.updated';
-- What was not delivered, for the lists of operators and the log of a developer: short beside what was.
CREATE INDEX "webhook_event_undelivered_idx" ON "webhook_event"("endpoint_id", "state", "number") WHERE "state" <> 'delivered';
-- What precedes an event of the same grant.
CREATE INDEX "webhook_event_order_idx" ON "webhook_event"("grant_id", "number") WHERE "state" = 'pending';
-- At most one unsent `data.updated` for each grant, which takes up the changes that follow.
CREATE UNIQUE INDEX "webhook_event_unsent_data_key" ON "webhook_event"("grant_id")
  WHERE "type" = 'data.updated' AND "state" = 'pending' AND "attempts" = 0;

ALTER TABLE "webhook_endpoint"
  ADD CONSTRAINT "webhook_endpoint_events_check" CHECK (cardinality("events") > 0
    AND "events" <@ CASE WHEN "client_id" IS NULL
      THEN ARRAY['connection.began', 'connection.changed', 'connection.narrowed', 'connection.ended', 'connection.ending']
      ELSE ARRAY['grant.revoked', 'grant.expired', 'grant.narrowed', 'grant.deletion_requested', 'data.updated'] END),
  ADD CONSTRAINT "webhook_endpoint_host_check" CHECK (("client_id" IS NULL) = starts_with("id", 'host:')),
  ADD CONSTRAINT "webhook_endpoint_disabled_reason_check" CHECK ("disabled_reason" IN ('gone'));
ALTER TABLE "webhook_event"
  ADD CONSTRAINT "webhook_event_type_check" CHECK ("type" IN
    ('grant.revoked', 'grant.expired', 'grant.narrowed', 'grant.deletion_requested', 'data.updated', 'test',
      'connection.began', 'connection.changed', 'connection.narrowed', 'connection.ended', 'connection.ending')),
  ADD CONSTRAINT "webhook_event_state_check" CHECK (CASE "state"
    WHEN 'pending' THEN "next_attempt_at" IS NOT NULL
    WHEN 'delivered' THEN "next_attempt_at" IS NULL AND "lease" IS NULL
    WHEN 'failed' THEN "next_attempt_at" IS NULL AND "lease" IS NULL
    ELSE false END),
  ADD CONSTRAINT "webhook_event_grant_check" CHECK (("grant_id" IS NULL) = ("type" = 'test')
    AND ("sub_hash" IS NULL) = ("type" = 'test' OR starts_with("type", 'connection.')));
-- The searches begin with the ends that come into reach from now on.
INSERT INTO "webhook_scan" ("days_left", "place_at")
  SELECT "days", now() + make_interval(hours => 24 * "days") FROM unnest(ARRAY[0, 1, 7]) AS "days";

-- Access records: chains of batches and their records, in partitions by month.

CREATE TABLE "access_batch" (
    "writer" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "record_count" INTEGER NOT NULL,
    "digests" BYTEA NOT NULL,
    "previous_hash" BYTEA NOT NULL,
    "hash" BYTEA NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "access_batch_pkey" PRIMARY KEY ("writer","seq","at")
) PARTITION BY RANGE ("at");

CREATE TABLE "access_record" (
    "id" UUID NOT NULL,
    "writer" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "user_ref" UUID NOT NULL,
    "client_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "window_from" TEXT NOT NULL,
    "window_to" TEXT NOT NULL,
    "page" INTEGER NOT NULL,
    "record_count" INTEGER NOT NULL,
    "request_id" TEXT NOT NULL,
    "refers_to" UUID,
    "verdict" TEXT,

    CONSTRAINT "access_record_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "access_record_verdict_check" CHECK (("refers_to" IS NULL) = ("verdict" IS NULL))
) PARTITION BY RANGE ("id");

CREATE INDEX "access_record_user_ref_id_idx" ON "access_record"("user_ref", "id" DESC);
CREATE INDEX "access_record_refers_to_idx" ON "access_record"("refers_to") WHERE "refers_to" IS NOT NULL;

-- Random bits are not compressed, and whatever else is in there is short.
ALTER TABLE "access_batch" ALTER COLUMN "digests" SET STORAGE EXTERNAL;

-- The least id of a time, and the time of an id (UUID version 7).
CREATE FUNCTION "first_id_of"(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (lpad(to_hex(ceil(greatest(extract(epoch FROM moment), 0) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

CREATE FUNCTION "time_of_id"(id uuid) RETURNS timestamptz LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0);

CREATE FUNCTION "day_of_id"(id uuid) RETURNS date LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN ("time_of_id"(id) AT TIME ZONE 'UTC')::date;

-- The quarter hour of the time of an id (UUID version 7), counted from 1970.
CREATE FUNCTION "quarter_of_id"(id uuid) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  RETURN (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 900000)::integer;

-- A safety net under both: where a row goes whose month nobody has prepared, or whose writer has a wrong clock.
CREATE TABLE "access_batch_default" PARTITION OF "access_batch" DEFAULT;
CREATE TABLE "access_record_default" PARTITION OF "access_record" DEFAULT;
SELECT "make_append_only"('access_batch', 'SELECT, INSERT');
SELECT "make_append_only"('access_record', 'SELECT, INSERT');
SELECT "make_append_only"('access_batch_default', '');
SELECT "make_append_only"('access_record_default', '');

-- The counts of access_day by quarter hour of the UTC day, from 1 to 96. An element is NULL where nothing is counted, which takes no space beside
-- its bit, and the array ends with the last counted quarter.
CREATE FUNCTION "count_in_quarter"("counts" integer[], "quarter" integer) RETURNS integer[]
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  -- With its first element, so that subscripts are always those of quarters.
  IF counts IS NULL THEN counts := ARRAY[NULL]::integer[]; END IF;
  counts[quarter] := coalesce(counts[quarter], 0) + 1;
  RETURN counts;
END
$$;

-- Counts rows by their quarter of a day; NULL for no rows.
CREATE AGGREGATE "count_quarters"(integer) (SFUNC = "count_in_quarter", STYPE = integer[], PARALLEL = SAFE);

-- Adds the counts of quarters to others. Either may be NULL.
CREATE FUNCTION "add_quarters"("kept" integer[], "added" integer[]) RETURNS integer[]
  LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  IF kept IS NULL OR added IS NULL THEN RETURN coalesce(kept, added); END IF;
  FOR quarter IN 1 .. cardinality(added) LOOP
    IF added[quarter] IS NOT NULL THEN kept[quarter] := coalesce(kept[quarter], 0) + added[quarter]; END IF;
  END LOOP;
  RETURN kept;
END
$$;

-- What the service must not be able to take back. The schema is made together with the roles.
CREATE TABLE "consent_audit"."access_checkpoint" (
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "jws" TEXT NOT NULL,

    CONSTRAINT "access_checkpoint_pkey" PRIMARY KEY ("number")
);
-- Of each chain with batches in a dropped partition, the last of them: what is kept continues it.
CREATE TABLE "consent_audit"."access_dropped" (
    "writer" UUID NOT NULL,
    "seq" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "hash" BYTEA NOT NULL,
    "kept_from" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "access_dropped_pkey" PRIMARY KEY ("writer","seq")
);
-- Found at once by whoever reads counts: those of days before are no longer told.
CREATE INDEX "access_dropped_kept_from_idx" ON "consent_audit"."access_dropped"("kept_from");
-- What operators did: an act before it begins, or the outcome of one. A chain among those of the access records, each entry a
-- batch of one record (packages/record-chain). The service can only add to it.
CREATE TABLE "consent_audit"."operator_act" (
    "number" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "operator" TEXT NOT NULL,
    "rpc" TEXT NOT NULL,
    "user_ref" UUID,
    "client_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "ends" BIGINT NOT NULL,
    "outcome" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "operator_act_pkey" PRIMARY KEY ("number")
);
CREATE INDEX "operator_act_user_ref_idx" ON "consent_audit"."operator_act"("user_ref", "number") WHERE "user_ref" IS NOT NULL;
-- An act has one outcome.
CREATE UNIQUE INDEX "operator_act_ends_key" ON "consent_audit"."operator_act"("ends") WHERE "ends" <> 0;
-- The acts of one request.
CREATE INDEX "operator_act_request_id_idx" ON "consent_audit"."operator_act"("request_id") WHERE "ends" = 0;

-- Makes one of the partitions that are missing: of this month, of the months that follow, or of a past month of which records are in
-- the default partition. Answers 1, or 0 when none is missing. A month that needs no move comes first, then the oldest.
-- Records of the month that are in the default partition move with it. The table is filled beside the others and attached, which
-- locks out nobody who records into another partition. The lock of the default partition is waited for at most 250 ms and held to the commit:
-- while the records of the month leave it, and while ATTACH reads what is left there. Readers wait for that long, and whoever records into the
-- default partition, which is everybody while the present month has no partition. The caller's statement_timeout is the only limit.
CREATE FUNCTION "ensure_access_partitions"(months_ahead integer) RETURNS integer
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

-- Drops the partitions of the oldest month, if it ended before the days to keep; answers its name, or nothing. Whatever the
-- caller says, 90 days stay. Holds up the recording only as long as it takes to change the catalogue. What was counted of the month goes by
-- delete_dropped_counts.
CREATE FUNCTION "drop_access_partitions"(keep_days integer) RETURNS SETOF text
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

-- Deletes some of the counts of months that were dropped, from a day on, and answers the day to begin with next time; null at the end. So no
-- call reads what the ones before have deleted, which stays in the index while a long transaction may still see it. It takes no days to keep:
-- what was not dropped stays, and 90 days stay whatever is said to have been dropped. Rows that somebody else holds are left out.
CREATE FUNCTION "delete_dropped_counts"(from_day date) RETURNS date
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp SET timezone = 'UTC' SET enable_seqscan = off
  SET enable_bitmapscan = off AS $$
DECLARE
  first_kept date;
  next_day date;
BEGIN
  SELECT max(kept_from)::date INTO first_kept FROM consent_audit.access_dropped;
  IF first_kept IS NULL THEN RETURN NULL; END IF;
  first_kept := least(first_kept, (now() - interval '90 days')::date);
  WITH of_people AS (
    DELETE FROM access_day WHERE ctid = ANY (ARRAY(SELECT d.ctid FROM access_day d
      WHERE d.day >= from_day AND d.day < first_kept ORDER BY d.day LIMIT 5000 FOR UPDATE SKIP LOCKED))
    RETURNING day
  ),
  of_apps AS (
    DELETE FROM app_day WHERE ctid = ANY (ARRAY(SELECT d.ctid FROM app_day d
      WHERE d.day >= from_day AND d.day < first_kept ORDER BY d.day LIMIT 5000 FOR UPDATE SKIP LOCKED))
    RETURNING day
  )
  SELECT least((SELECT max(day) FROM of_people), (SELECT max(day) FROM of_apps)) INTO next_day;
  RETURN next_day;
END
$$;

-- The service can neither delete revocations as it likes, nor date them back. The next two functions delete at most 5,000 rows that expired
-- before the days to keep, which are two at least, and answer how many. They also go by revoked_at, which the service cannot set: an
-- expiry that was lowered removes nothing that may still be needed. Rows that somebody else holds are left out.

-- A refresh token lives for 30 days at most, so nothing of a family is alive 30 days after its revocation.
CREATE FUNCTION "prune_revoked_family"(keep_days integer, max_rows integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp AS $$
DECLARE
  pruned integer;
BEGIN
  IF keep_days IS NULL OR keep_days < 2 THEN RAISE EXCEPTION 'revocations are kept for two days at least beyond their expiry'; END IF;
  DELETE FROM revoked_family WHERE family_id = ANY(ARRAY(
    SELECT f.family_id FROM revoked_family f
    WHERE f.expires_at < statement_timestamp() - make_interval(days => keep_days)
      AND f.revoked_at < statement_timestamp() - interval '32 days'
    ORDER BY f.expires_at LIMIT least(max_rows, 5000) FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  RETURN pruned;
END
$$;

-- An access token lives for an hour at most.
CREATE FUNCTION "prune_revoked_token"(keep_days integer, max_rows integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp AS $$
DECLARE
  pruned integer;
BEGIN
  IF keep_days IS NULL OR keep_days < 2 THEN RAISE EXCEPTION 'revocations are kept for two days at least beyond their expiry'; END IF;
  DELETE FROM revoked_token WHERE token_hash = ANY(ARRAY(
    SELECT t.token_hash FROM revoked_token t
    WHERE t.expires_at < statement_timestamp() - make_interval(days => keep_days)
      AND t.revoked_at < statement_timestamp() - interval '3 days'
    ORDER BY t.expires_at LIMIT least(max_rows, 5000) FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  RETURN pruned;
END
$$;

-- A session is accepted for at most 24 hours after it was issued. The second day covers clocks that differ. recorded_at, which the
-- service cannot set, protects rows whose ended_at is wrong.
CREATE FUNCTION "prune_session_end"(max_rows integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp AS $$
DECLARE
  pruned integer;
BEGIN
  DELETE FROM session_end WHERE ctid = ANY(ARRAY(
    SELECT s.ctid FROM session_end s
    WHERE s.recorded_at < statement_timestamp() - interval '2 days'
      AND s.ended_at < statement_timestamp() - interval '2 days'
    ORDER BY s.recorded_at LIMIT least(max_rows, 5000) FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  RETURN pruned;
END
$$;

-- Restored databases.

-- Each time that the ledger was found to be another database than before, or was said to have been put back. A failover that lacks nothing that
-- was acknowledged is an entry that suspends nothing.
CREATE TABLE "consent_audit"."restore" (
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "kind" TEXT NOT NULL,
    "identity" TEXT NOT NULL,

    CONSTRAINT "restore_pkey" PRIMARY KEY ("number"),
    CONSTRAINT "restore_kind_check" CHECK ("kind" IN ('first', 'failover', 'detected', 'declared'))
);
-- An operator's word for everything up to that number.
CREATE TABLE "consent_audit"."restore_confirmation" (
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "restore_confirmation_pkey" PRIMARY KEY ("number"),
    CONSTRAINT "restore_confirmation_number_fkey" FOREIGN KEY ("number") REFERENCES "consent_audit"."restore"("number")
);
-- The instances of the service. Each counts its position up after every change that it acknowledges, and remembers it. stopped: the instance
-- ended in order. One that was only silent may come back and look for its row, so that row is kept longer.
CREATE TABLE "consent_audit"."instance" (
    "id" UUID NOT NULL,
    "position" BIGINT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "ended" BOOLEAN NOT NULL DEFAULT false,
    "complete_in" TEXT,
    "stopped" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
);

-- What cannot change during a connection. A connection is one process of one running server, in one database. The identifier of a cluster is
-- written when the cluster is made, and every program that changes it requires that the server is stopped, which ends its connections.
-- Planning calls an IMMUTABLE function once, so a prepared statement has them as constants. Reading the identifier for each statement
-- read a file. What can change during a connection, the end of recovery and the timeline, is evaluated each time.
CREATE FUNCTION "consent_audit"."cluster_of_connection"() RETURNS bigint LANGUAGE sql IMMUTABLE
  AS 'SELECT system_identifier FROM pg_control_system()';
CREATE FUNCTION "consent_audit"."database_of_connection"() RETURNS oid LANGUAGE sql IMMUTABLE
  AS 'SELECT oid FROM pg_database WHERE datname = current_database()';

-- Views, not functions: they are planned once, as part of each statement that asks them.

-- What this database is: the cluster, its timeline (point-in-time recovery and promotion begin another), the database (a copy has
-- another id), and the table (a dump that is read back makes another).
CREATE VIEW "consent_audit"."present_database" AS
  SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE "consent_audit"."cluster_of_connection"()
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || "consent_audit"."database_of_connection"()
    || '/' || ('consent_audit.restore'::regclass)::oid END AS identity;

-- Grants of a number below are suspended, as are credentials without a grant issued no later than until. identified: the database is the one of
-- the latest entry; while it is not, everything is suspended. One row; none before the first start of the service.
CREATE VIEW "consent_audit"."suspension" AS
  SELECT
    CASE WHEN last.identity <> present.identity THEN 2147483647 ELSE coalesce(open.number, 0) END AS below,
    CASE WHEN last.identity <> present.identity THEN 'infinity' ELSE coalesce(open.at, '-infinity') END AS until,
    last.identity = present.identity AS identified
  FROM (SELECT r.identity FROM consent_audit.restore r ORDER BY r.number DESC LIMIT 1) last
  CROSS JOIN consent_audit.present_database present
  LEFT JOIN (SELECT r.number, r.at FROM consent_audit.restore r
    WHERE r.kind IN ('detected', 'declared')
      AND r.number > coalesce((SELECT max(c.number) FROM consent_audit.restore_confirmation c), 0)
    ORDER BY r.number DESC LIMIT 1) open ON true;

-- What statements of the service share. Views, and functions that Postgres inlines, are planned as part of the
-- statement that uses them. A column that it does not read costs nothing.

-- Grants with their status at the start of the statement, and what it depends on. One that was revoked, or is of an
-- older epoch of its app, is never active, whatever the clocks; it is expired if it expired before it was revoked or
-- that epoch ended. live: the status is active. Whether a restore suspends a grant is not said: asking
-- consent_audit.suspension is volatile, and Postgres does not plan a view with a volatile column as part of the
-- statement. Its person sees such a grant as active.
CREATE VIEW "grant_with_status" AS
  SELECT g.id, g.user_id, g.user_ref, g.client_id, g.scopes, g.granted_at, g.expires_at, g.data_from,
    g.revoked_at, g.revoked_by, g.closed_at, g.deletion_requested_at, g.restore_number,
    a.owner_id AS app_owner_id,
    a.profile->>'name' AS app_name,
    a.status = 'suspended' AS app_suspended,
    e.started_at AS epoch_ended_at,
    CASE
      WHEN g.revoked_at IS NOT NULL THEN CASE WHEN g.revoked_at >= g.expires_at THEN 'expired' ELSE 'revoked' END
      WHEN g.app_epoch < a.epoch THEN CASE WHEN e.started_at >= g.expires_at THEN 'expired' ELSE 'revoked' END
      WHEN g.expires_at <= statement_timestamp() THEN 'expired'
      ELSE 'active'
    END AS status,
    g.revoked_at IS NULL AND g.app_epoch = a.epoch AND g.expires_at > statement_timestamp() AS live
  FROM consent_grant g
  JOIN app a ON a.client_id = g.client_id
  LEFT JOIN app_epoch e ON e.client_id = g.client_id AND e.epoch = g.app_epoch + 1;

-- Pending approvals with their status at the start of the statement. One that expired before its app was revoked stays
-- expired.
CREATE VIEW "approval_with_status" AS
  SELECT p.id, p.client_id, p.app_epoch, p.redirect_host, p.scopes, p.purpose, p.client_authenticated, p.created_at,
    p.expires_at, p.extensions, p.claimed_by, p.decided_at, p.approved_scopes, p.approved_days, p.approved_data_from,
    p.grant_id, p.grant_expires_at, p.shown_app,
    a.owner_id AS app_owner_id,
    a.epoch AS present_epoch,
    CASE
      WHEN p.decision IS NOT NULL THEN p.decision
      WHEN p.app_epoch < a.epoch THEN CASE WHEN e.started_at >= p.expires_at THEN 'expired' ELSE 'cancelled' END
      WHEN p.expires_at <= statement_timestamp() THEN 'expired'
      ELSE 'pending'
    END AS status
  FROM pending_approval p
  JOIN app a ON a.client_id = p.client_id
  LEFT JOIN app_epoch e ON e.client_id = p.client_id AND e.epoch = p.app_epoch + 1;

-- Records that are not yet counted in access_day and app_day: only a few, all of them new.
CREATE VIEW "uncounted_record" AS
  SELECT r.*
  FROM access_record r
  WHERE r.id >= (SELECT first_id_of(min(u.at)) FROM access_uncounted u)
    AND EXISTS (SELECT FROM access_uncounted u WHERE u.writer = r.writer AND u.seq = r.seq);

-- The first day with records. Counts of dropped months may exist a little longer than their records.
CREATE VIEW "first_kept_day" AS
  SELECT (coalesce(max(kept_from), '-infinity') AT TIME ZONE 'UTC')::date AS day FROM consent_audit.access_dropped;

-- Counts of accesses by day, exact at the time of the statement: counted and uncounted records.
CREATE VIEW "access_count" AS
  SELECT * FROM (
    SELECT user_ref, client_id, grant_id, scope, day, recorded, refused, last_at FROM access_day
    UNION ALL
    SELECT user_ref, client_id, grant_id, scope, day_of_id(coalesce(refers_to, id)),
      CASE WHEN refers_to IS NULL THEN 1 ELSE 0 END, CASE WHEN refers_to IS NULL THEN 0 ELSE 1 END,
      CASE WHEN refers_to IS NULL THEN at END
    FROM uncounted_record
  ) counted
  WHERE day >= (SELECT k.day FROM first_kept_day k);

-- The same counts of an app by day and endpoint, from app_day, which does not grow with users.
CREATE VIEW "app_count" AS
  SELECT * FROM (
    SELECT client_id, endpoint, day, recorded, refused FROM app_day
    UNION ALL
    SELECT client_id, endpoint, day_of_id(coalesce(refers_to, id)),
      CASE WHEN refers_to IS NULL THEN 1::bigint ELSE 0 END, CASE WHEN refers_to IS NULL THEN 0::bigint ELSE 1 END
    FROM uncounted_record
  ) counted
  WHERE day >= (SELECT k.day FROM first_kept_day k);

-- The endpoints that want an event about a grant of an app, with its type: one for the app, another for the deployment;
-- NULL for none. Most apps have no endpoint, so their changes cost one look-up by key.
CREATE FUNCTION "endpoints_wanting"("of_app" TEXT, "app_event" TEXT, "host_event" TEXT)
  RETURNS TABLE ("id" TEXT, "client_id" TEXT, "type" TEXT) LANGUAGE sql STABLE AS $$
  SELECT typed.id, typed.client_id, typed.type
  FROM (
    SELECT w.id, w.client_id, w.events, w.disabled_reason,
      CASE WHEN w.client_id IS NULL THEN host_event ELSE app_event END AS type
    FROM consent.webhook_endpoint w
    WHERE w.client_id = of_app OR w.client_id IS NULL
  ) typed
  WHERE typed.type = ANY(typed.events) AND typed.disabled_reason IS NULL
$$;

SELECT "make_append_only"('consent_audit.access_checkpoint', 'SELECT, INSERT');
SELECT "make_append_only"('consent_audit.access_dropped', 'SELECT');
SELECT "make_append_only"('consent_audit.operator_act', 'SELECT, INSERT');
SELECT "make_append_only"('consent_audit.restore', 'SELECT, INSERT');
SELECT "make_append_only"('consent_audit.restore_confirmation', 'SELECT, INSERT');

REVOKE ALL ON FUNCTION "make_append_only"(regclass, text), "ensure_access_partitions"(integer), "drop_access_partitions"(integer),
  "delete_dropped_counts"(date), "prune_revoked_family"(integer, integer),
  "prune_revoked_token"(integer, integer), "prune_session_end"(integer) FROM PUBLIC;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    GRANT USAGE ON SCHEMA "consent_audit" TO "phds_consent";
    GRANT SELECT ON "consent_audit"."present_database", "consent_audit"."suspension" TO "phds_consent";
    GRANT SELECT, INSERT, UPDATE, DELETE ON "consent_audit"."instance" TO "phds_consent";
    GRANT EXECUTE ON FUNCTION "ensure_access_partitions"(integer), "drop_access_partitions"(integer),
      "delete_dropped_counts"(date), "prune_revoked_family"(integer, integer),
      "prune_revoked_token"(integer, integer), "prune_session_end"(integer) TO "phds_consent";
    -- No statement of the service deletes apps, or changes when an epoch began.
    REVOKE DELETE ON "app" FROM "phds_consent";
    REVOKE UPDATE, DELETE ON "app_epoch" FROM "phds_consent";
    REVOKE UPDATE, DELETE, TRUNCATE ON "consent_event" FROM "phds_consent";
    REVOKE DELETE, TRUNCATE ON "access_day", "app_day" FROM "phds_consent";
    -- A view acts with the rights of its owner, and Postgres lets rows of a table be changed through a simple one.
    REVOKE INSERT, UPDATE, DELETE ON "grant_with_status", "approval_with_status", "uncounted_record", "first_kept_day",
      "access_count", "app_count" FROM "phds_consent";
    REVOKE INSERT, UPDATE, DELETE ON "revoked_family", "revoked_token", "session_end" FROM "phds_consent";
    GRANT INSERT ("family_id", "expires_at"), UPDATE ("expires_at") ON "revoked_family" TO "phds_consent";
    GRANT INSERT ("token_hash", "expires_at"), UPDATE ("expires_at") ON "revoked_token" TO "phds_consent";
    GRANT INSERT ("kind", "value_hash", "ended_at") ON "session_end" TO "phds_consent";
  END IF;
END
$$;

SELECT "ensure_access_partitions"(3);
SELECT "ensure_access_partitions"(3);
SELECT "ensure_access_partitions"(3);
SELECT "ensure_access_partitions"(3);
