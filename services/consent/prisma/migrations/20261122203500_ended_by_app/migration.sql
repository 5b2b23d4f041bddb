-- AlterTable
ALTER TABLE "consent_grant" ADD COLUMN     "revoked_by" TEXT;
