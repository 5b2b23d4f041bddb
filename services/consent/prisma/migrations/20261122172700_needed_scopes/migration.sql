-- AlterTable
ALTER TABLE "pending_approval" ADD COLUMN     "needed_scopes" TEXT[] DEFAULT ARRAY[]::TEXT[];
