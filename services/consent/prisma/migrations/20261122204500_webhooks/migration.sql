-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[],
    "secret_version" INTEGER NOT NULL DEFAULT 1,
    "previous_secret_until" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "failing_since" TIMESTAMPTZ(3),
    "retry_at" TIMESTAMPTZ(3),
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
    "only" BOOLEAN NOT NULL DEFAULT true,
    "place_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "place_id" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "webhook_scan_pkey" PRIMARY KEY ("only")
);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_endpoint_client_id_key" ON "webhook_endpoint"("client_id");

-- CreateIndex
CREATE INDEX "webhook_event_endpoint_id_number_idx" ON "webhook_event"("endpoint_id", "number");

-- CreateIndex
CREATE INDEX "webhook_event_grant_id_idx" ON "webhook_event"("grant_id");

-- CreateIndex
CREATE INDEX "webhook_event_created_at_idx" ON "webhook_event"("created_at");

-- CreateIndex
CREATE INDEX "webhook_attempt_event_id_at_idx" ON "webhook_attempt"("event_id", "at");

-- AddForeignKey
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "webhook_event"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The rest is not expressible in schema.prisma (docs/decisions/0032).

-- What is due at an endpoint, and what precedes an event of the same grant.
CREATE INDEX "webhook_event_due_idx" ON "webhook_event"("endpoint_id", "next_attempt_at") WHERE "state" = 'pending';
CREATE INDEX "webhook_event_order_idx" ON "webhook_event"("grant_id", "number") WHERE "state" = 'pending';
-- At most one unsent `data.updated` for each grant, which takes up the changes that follow.
CREATE UNIQUE INDEX "webhook_event_unsent_data_key" ON "webhook_event"("grant_id")
  WHERE "type" = 'data.updated' AND "state" = 'pending' AND "attempts" = 0;

ALTER TABLE "webhook_endpoint"
  ADD CONSTRAINT "webhook_endpoint_events_check" CHECK (cardinality("events") > 0
    AND "events" <@ ARRAY['grant.revoked', 'grant.expired', 'grant.narrowed', 'data.updated']),
  ADD CONSTRAINT "webhook_endpoint_disabled_reason_check" CHECK ("disabled_reason" IN ('gone'));
ALTER TABLE "webhook_event"
  ADD CONSTRAINT "webhook_event_type_check" CHECK ("type" IN
    ('grant.revoked', 'grant.expired', 'grant.narrowed', 'data.updated', 'test')),
  ADD CONSTRAINT "webhook_event_state_check" CHECK (CASE "state"
    WHEN 'pending' THEN "next_attempt_at" IS NOT NULL
    WHEN 'delivered' THEN "next_attempt_at" IS NULL AND "lease" IS NULL
    WHEN 'failed' THEN "next_attempt_at" IS NULL AND "lease" IS NULL
    ELSE false END),
  ADD CONSTRAINT "webhook_event_grant_check" CHECK (("grant_id" IS NULL) = ("type" = 'test')
    AND ("sub_hash" IS NULL) = ("type" = 'test'));
ALTER TABLE "webhook_scan" ADD CONSTRAINT "webhook_scan_only_check" CHECK ("only");
-- Grants that expired before this release make no event.
INSERT INTO "webhook_scan" DEFAULT VALUES;
