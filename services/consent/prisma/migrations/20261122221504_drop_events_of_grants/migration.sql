-- Replaced by webhook_event_grant_id_number_idx.
-- contract: nothing names webhook_event_grant_id_idx since 0.1.0
-- DropIndex
DROP INDEX CONCURRENTLY IF EXISTS "webhook_event_grant_id_idx";
