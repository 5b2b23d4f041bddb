-- Reads all rows. In a migration of its own, which locks nothing against reading and writing meanwhile (SHARE UPDATE EXCLUSIVE).
ALTER TABLE "consent_grant" VALIDATE CONSTRAINT "consent_grant_sandbox_check";
ALTER TABLE "pending_approval" VALIDATE CONSTRAINT "pending_approval_sandbox_check";
