-- Each revocation writes this table, so its indexes are built while it does, one migration each. This one first built all of them in a
-- transaction:
-- earlier text: e43cccf2dd584a88e42d0db9dbeaf753761475e066558b0a9348eb452fcf4542
-- CreateIndex
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_event_grant_id_number_idx" ON "webhook_event"("grant_id", "number");
