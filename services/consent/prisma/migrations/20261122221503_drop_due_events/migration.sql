-- Replaced by the two indexes of due events.
-- contract: nothing names webhook_event_due_idx since 0.1.0
DROP INDEX CONCURRENTLY IF EXISTS "webhook_event_due_idx";
