-- Not expressible in schema.prisma (docs/decisions/0032). What is due at an endpoint: `data.updated` apart, so that the other events are
-- found at once however many of it are waiting.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_event_due_data_idx" ON "webhook_event"("endpoint_id", "next_attempt_at")
  WHERE "state" = 'pending' AND "type" = 'data.updated';
