-- Not expressible in schema.prisma. What was not delivered, for the lists of operators and the log of a developer: short beside what was.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_event_undelivered_idx" ON "webhook_event"("endpoint_id", "state", "number")
  WHERE "state" <> 'delivered';
