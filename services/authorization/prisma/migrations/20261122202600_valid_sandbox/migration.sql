-- Reads all rows. In a migration of its own, which locks nothing against reading and writing meanwhile (SHARE UPDATE EXCLUSIVE).
ALTER TABLE "authorization_code" VALIDATE CONSTRAINT "authorization_code_sandbox_check";
ALTER TABLE "token_family" VALIDATE CONSTRAINT "token_family_sandbox_check";
