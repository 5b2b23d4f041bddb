-- Reads all rows. In a migration of its own, which locks nothing against reading and writing meanwhile (SHARE UPDATE EXCLUSIVE).
ALTER TABLE "app" VALIDATE CONSTRAINT "app_lock_check";
