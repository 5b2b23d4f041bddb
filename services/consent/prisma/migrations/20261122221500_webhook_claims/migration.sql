-- DropIndex
DROP INDEX "webhook_event_grant_id_idx";

-- CreateIndex
CREATE INDEX "webhook_event_grant_id_number_idx" ON "webhook_event"("grant_id", "number");

-- The rest is not expressible in schema.prisma (docs/decisions/0032).

-- What is due at an endpoint: `data.updated` apart, so that the other events are found at once however many of it are waiting.
DROP INDEX "webhook_event_due_idx";
CREATE INDEX "webhook_event_due_idx" ON "webhook_event"("endpoint_id", "next_attempt_at")
  WHERE "state" = 'pending' AND "type" <> 'data.updated';
CREATE INDEX "webhook_event_due_data_idx" ON "webhook_event"("endpoint_id", "next_attempt_at")
  WHERE "state" = 'pending' AND "type" = 'data.updated';
