-- Which changes consent has been told about, for the apps that want events. Rewrites no row, because the default is a constant. Changes before
-- this migration count as reported.
ALTER TABLE "reading_change" ADD COLUMN "reported" BOOLEAN NOT NULL DEFAULT true;
ALTER TABLE "reading_change" ALTER COLUMN "reported" SET DEFAULT false;

-- The rest is not expressible in schema.prisma. Contains only what waits, so that a write pays for a short index.
CREATE INDEX "reading_change_unreported_idx" ON "reading_change"("user_id", "number") WHERE NOT "reported";
