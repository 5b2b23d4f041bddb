-- AlterTable
ALTER TABLE "pending_approval" ADD COLUMN     "extensions" INTEGER NOT NULL DEFAULT 0;
