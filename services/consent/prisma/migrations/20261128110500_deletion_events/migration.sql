-- Adds `grant.deletion_requested`. Rows that exist satisfy the wider constraints, so nothing is scanned under the lock.
-- contract: a CHECK constraint, which ON CONFLICT cannot name, and which the wider one replaces since 0.2.0
ALTER TABLE "webhook_endpoint"
  DROP CONSTRAINT "webhook_endpoint_events_check",
  ADD CONSTRAINT "webhook_endpoint_events_check" CHECK (cardinality("events") > 0
    AND "events" <@ ARRAY['grant.revoked', 'grant.expired', 'grant.narrowed', 'grant.deletion_requested', 'data.updated']) NOT VALID;
-- contract: a CHECK constraint, which ON CONFLICT cannot name, and which the wider one replaces since 0.2.0
ALTER TABLE "webhook_event"
  DROP CONSTRAINT "webhook_event_type_check",
  ADD CONSTRAINT "webhook_event_type_check" CHECK ("type" IN
    ('grant.revoked', 'grant.expired', 'grant.narrowed', 'grant.deletion_requested', 'data.updated', 'test')) NOT VALID;
