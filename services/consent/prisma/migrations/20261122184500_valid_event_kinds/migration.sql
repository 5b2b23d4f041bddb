-- Reads all of consent_event. In a migration of its own, which locks nothing against reading and writing meanwhile (SHARE UPDATE EXCLUSIVE).
ALTER TABLE "consent_event" VALIDATE CONSTRAINT "consent_event_kind_check";
