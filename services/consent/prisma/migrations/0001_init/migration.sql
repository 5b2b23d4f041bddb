-- CreateTable
CREATE TABLE "app" (
    "client_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "homepage_url" TEXT NOT NULL,
    "privacy_policy_url" TEXT NOT NULL,
    "logo_url" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "epoch" INTEGER NOT NULL DEFAULT 1,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "status_changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
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
    "claimed_by" TEXT,
    "decision" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "approved_scopes" TEXT[],
    "approved_days" INTEGER,
    "approved_data_from" DATE,
    "grant_id" TEXT,
    "grant_expires_at" TIMESTAMPTZ(3),

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
    "closed_at" TIMESTAMPTZ(3),

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
    "last_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_day_pkey" PRIMARY KEY ("user_ref","grant_id","day","client_id","scope","endpoint")
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
CREATE INDEX "consent_grant_user_id_granted_at_id_idx" ON "consent_grant"("user_id", "granted_at", "id");

-- CreateIndex
CREATE INDEX "consent_grant_client_id_granted_at_id_idx" ON "consent_grant"("client_id", "granted_at", "id");

-- CreateIndex
CREATE INDEX "consent_event_grant_id_at_idx" ON "consent_event"("grant_id", "at");

-- CreateIndex
CREATE INDEX "revoked_family_expires_at_idx" ON "revoked_family"("expires_at");

-- CreateIndex
CREATE INDEX "revoked_token_expires_at_idx" ON "revoked_token"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "person_user_ref_key" ON "person"("user_ref");

-- CreateIndex
CREATE INDEX "access_day_client_id_day_idx" ON "access_day"("client_id", "day");

-- What follows has no words in schema.prisma.

-- One grant at a time may be joined by a new approval.
CREATE UNIQUE INDEX "consent_grant_open_key" ON "consent_grant"("user_id", "client_id") WHERE "closed_at" IS NULL;

ALTER TABLE "app"
  ADD CONSTRAINT "app_status_check" CHECK ("status" IN ('active', 'suspended', 'revoked'));
ALTER TABLE "pending_approval"
  ADD CONSTRAINT "pending_approval_decision_check" CHECK ("decision" IN ('approved', 'denied')),
  ADD CONSTRAINT "pending_approval_decided_check"
    CHECK (("decision" IS NULL) = ("decided_at" IS NULL) AND ("decision" IS NULL OR "claimed_by" IS NOT NULL));
ALTER TABLE "consent_grant"
  ADD CONSTRAINT "consent_grant_scopes_check" CHECK (cardinality("scopes") > 0),
  ADD CONSTRAINT "consent_grant_closed_check" CHECK ("revoked_at" IS NULL OR "closed_at" IS NOT NULL);
ALTER TABLE "consent_event"
  ADD CONSTRAINT "consent_event_kind_check" CHECK ("kind" IN ('granted', 'narrowed', 'revoked'));

-- History can be added to, by nobody changed: the trigger stops the owner's slips, the privileges the service itself.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER "consent_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "consent_event"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- Access records: chains of batches and their records, in partitions by month (docs/decisions/0010).

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

-- A safety net under both: where a row goes whose month nobody has prepared, or whose writer has a wrong clock.
CREATE TABLE "access_batch_default" PARTITION OF "access_batch" DEFAULT;
CREATE TABLE "access_record_default" PARTITION OF "access_record" DEFAULT;
SELECT "make_append_only"('access_batch', 'SELECT, INSERT');
SELECT "make_append_only"('access_record', 'SELECT, INSERT');
SELECT "make_append_only"('access_batch_default', '');
SELECT "make_append_only"('access_record_default', '');

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
    "dropped_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "access_dropped_pkey" PRIMARY KEY ("writer","seq")
);
SELECT "make_append_only"('consent_audit.access_checkpoint', 'SELECT, INSERT');
SELECT "make_append_only"('consent_audit.access_dropped', 'SELECT');

-- Makes the partitions of this month and of those that follow; answers how many are new. A month of which rows are in the
-- default partition already stays there. Waits a second for a lock at most, so that it never holds up the recording.
CREATE FUNCTION "ensure_access_partitions"(months_ahead integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp SET lock_timeout = '1s' SET timezone = 'UTC' AS $$
DECLARE
  month timestamptz;
  next_month timestamptz;
  suffix text;
  made integer := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('consent access partitions', 0));
  FOR month IN SELECT generate_series(date_trunc('month', now()),
    date_trunc('month', now()) + make_interval(months => least(months_ahead, 24)), interval '1 month')
  LOOP
    next_month := month + interval '1 month';
    suffix := to_char(month, 'YYYY_MM');
    CONTINUE WHEN to_regclass('access_record_' || suffix) IS NOT NULL;
    BEGIN
      EXECUTE format('CREATE TABLE %I PARTITION OF access_batch FOR VALUES FROM (%L) TO (%L)',
        'access_batch_' || suffix, month, next_month);
      EXECUTE format('CREATE TABLE %I PARTITION OF access_record FOR VALUES FROM (%L) TO (%L)',
        'access_record_' || suffix, first_id_of(month), first_id_of(next_month));
      PERFORM make_append_only(('access_batch_' || suffix)::regclass, '');
      PERFORM make_append_only(('access_record_' || suffix)::regclass, '');
      made := made + 1;
    EXCEPTION WHEN check_violation THEN
      RAISE WARNING 'records of % are in the default partition', suffix;
    END;
  END LOOP;
  RETURN made;
END
$$;

-- Drops the partitions of months that ended before the days to keep, with what was counted of them; answers their names.
-- Whatever the caller says, 90 days stay.
CREATE FUNCTION "drop_access_partitions"(keep_days integer) RETURNS SETOF text
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp SET lock_timeout = '1s' SET timezone = 'UTC' AS $$
DECLARE
  month timestamptz;
  next_month timestamptz;
  suffix text;
BEGIN
  IF keep_days < 90 THEN RAISE EXCEPTION 'records are kept for 90 days at least'; END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('consent access partitions', 0));
  FOR suffix IN SELECT right(inhrelid::regclass::text, 7) FROM pg_inherits
    WHERE inhparent = 'access_record'::regclass AND inhrelid <> 'access_record_default'::regclass ORDER BY 1
  LOOP
    month := to_timestamp(suffix, 'YYYY_MM');
    next_month := month + interval '1 month';
    EXIT WHEN next_month > now() - make_interval(days => keep_days);
    EXECUTE format('INSERT INTO consent_audit.access_dropped (writer, seq, at, hash, kept_from)
      SELECT DISTINCT ON (writer) writer, seq, at, hash, %L::timestamptz FROM %I ORDER BY writer, seq DESC',
      next_month, 'access_batch_' || suffix);
    EXECUTE format('DROP TABLE %I, %I', 'access_record_' || suffix, 'access_batch_' || suffix);
    DELETE FROM access_uncounted WHERE at >= month AND at < next_month;
    DELETE FROM access_day WHERE day < (next_month AT TIME ZONE 'UTC')::date;
    RETURN NEXT suffix;
  END LOOP;
END
$$;

REVOKE ALL ON FUNCTION "ensure_access_partitions"(integer), "drop_access_partitions"(integer),
  "make_append_only"(regclass, text) FROM PUBLIC;
SELECT "ensure_access_partitions"(3);

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    REVOKE UPDATE, DELETE, TRUNCATE ON "consent_event" FROM "phds_consent";
    GRANT USAGE ON SCHEMA "consent_audit" TO "phds_consent";
    GRANT EXECUTE ON FUNCTION "ensure_access_partitions"(integer), "drop_access_partitions"(integer) TO "phds_consent";
  END IF;
END
$$;
