-- Whether the instance ended in order. One that was only silent may come back and look for its row, so that row is kept longer.
ALTER TABLE "consent_audit"."instance" ADD COLUMN     "stopped" BOOLEAN NOT NULL DEFAULT false;
