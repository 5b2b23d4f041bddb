-- An operator's lock of an app (docs/decisions/0043).
ALTER TABLE "app" ADD COLUMN "lock_kind" TEXT,
    ADD COLUMN "lock_reason" TEXT,
    ADD COLUMN "locked_at" TIMESTAMPTZ(3),
    ADD COLUMN "unlocked_status" TEXT;
-- Holds against an earlier release that runs beside this one too: it does not know the lock and fails instead. Validated by the next
-- migration, so that nothing waits while rows are read.
ALTER TABLE "app" ADD CONSTRAINT "app_lock_check" CHECK ("lock_kind" IS NULL OR "status" <> 'active') NOT VALID;
