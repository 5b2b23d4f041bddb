-- Not expressible in schema.prisma. Changes that consent has not been told about, the oldest first. Contains only what waits. The release before
-- this one reports in the order of reading_change_unreported_idx, which therefore stays.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "reading_change_waiting_idx" ON "reading_change"("at", "user_id", "number") WHERE NOT "reported";
