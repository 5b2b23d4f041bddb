-- CreateTable
CREATE TABLE "notice" (
    "id" TEXT NOT NULL,
    "number" BIGINT,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "user_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "content" JSONB NOT NULL,

    CONSTRAINT "notice_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "notice_feed" (
    "only" BOOLEAN NOT NULL DEFAULT true,
    "last_number" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "notice_feed_pkey" PRIMARY KEY ("only")
);

-- CreateTable
CREATE TABLE "notice_scan" (
    "only" BOOLEAN NOT NULL DEFAULT true,
    "started_at" TIMESTAMPTZ(3),
    "place_at" TIMESTAMPTZ(3),
    "place_id" TEXT NOT NULL DEFAULT '',

    CONSTRAINT "notice_scan_pkey" PRIMARY KEY ("only")
);

-- CreateIndex
CREATE UNIQUE INDEX "notice_number_key" ON "notice"("number");

-- CreateIndex
CREATE INDEX "notice_at_idx" ON "notice"("at");

-- CreateIndex
CREATE INDEX "notice_user_id_idx" ON "notice"("user_id");

-- CreateIndex, unless it was built before the migration with CREATE INDEX CONCURRENTLY, as a large table may need. An interrupted build
-- leaves an index that is not valid: no statement uses it, and IF NOT EXISTS accepts it.
DO $$
BEGIN
  IF EXISTS (
    SELECT FROM pg_index
    WHERE indexrelid = to_regclass('"consent_grant_expires_at_id_idx"') AND NOT indisvalid
  ) THEN
    RAISE EXCEPTION 'index consent_grant_expires_at_id_idx is not valid: its build was interrupted or has not ended'
      USING HINT = 'Wait for the build, or DROP INDEX CONCURRENTLY and build it again.';
  END IF;
END
$$;
CREATE INDEX IF NOT EXISTS "consent_grant_expires_at_id_idx" ON "consent_grant"("expires_at", "id");

-- The rest is not expressible in schema.prisma (docs/decisions/0028).

CREATE INDEX "notice_unnumbered_idx" ON "notice"("at", "id") WHERE "number" IS NULL;

ALTER TABLE "notice" ADD CONSTRAINT "notice_kind_check" CHECK ("kind" IN
  ('connection_began', 'connection_changed', 'connection_ending', 'unusual_reading', 'app_reported'));
ALTER TABLE "notice_feed" ADD CONSTRAINT "notice_feed_only_check" CHECK ("only");
ALTER TABLE "notice_scan" ADD CONSTRAINT "notice_scan_only_check" CHECK ("only");
INSERT INTO "notice_feed" DEFAULT VALUES;
INSERT INTO "notice_scan" DEFAULT VALUES;
