ALTER TABLE "app" ADD COLUMN "anonymous_openings" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "pending_approval" ADD COLUMN "anonymous_number" BIGINT;

-- Finds the oldest that may give way without looking at the others.
CREATE INDEX "pending_approval_anonymous_idx" ON "pending_approval"("client_id", "anonymous_number")
  WHERE "claimed_by" IS NULL AND "anonymous_number" IS NOT NULL;
