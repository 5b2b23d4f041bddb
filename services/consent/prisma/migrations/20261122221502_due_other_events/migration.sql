-- The other events that are due (docs/decisions/0032).
CREATE INDEX CONCURRENTLY IF NOT EXISTS "webhook_event_due_other_idx" ON "webhook_event"("endpoint_id", "next_attempt_at")
  WHERE "state" = 'pending' AND "type" <> 'data.updated';
