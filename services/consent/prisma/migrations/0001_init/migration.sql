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
CREATE TABLE "consent_grant" (
    "id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
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
CREATE TABLE "access_record" (
    "id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "user_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "endpoint" TEXT NOT NULL,
    "window_from" TEXT NOT NULL,
    "window_to" TEXT NOT NULL,
    "page" INTEGER NOT NULL,
    "record_count" INTEGER NOT NULL,
    "request_id" TEXT NOT NULL,

    CONSTRAINT "access_record_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "access_refusal" (
    "record_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "verdict" TEXT NOT NULL,

    CONSTRAINT "access_refusal_pkey" PRIMARY KEY ("record_id")
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
CREATE INDEX "access_record_user_id_id_idx" ON "access_record"("user_id", "id");

-- CreateIndex
CREATE INDEX "access_record_client_id_at_idx" ON "access_record"("client_id", "at");

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

CREATE TRIGGER "access_record_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "access_record"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "access_refusal_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "access_refusal"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "consent_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "consent_event"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    REVOKE UPDATE, DELETE, TRUNCATE ON "access_record", "access_refusal", "consent_event" FROM "phds_consent";
  END IF;
END
$$;
