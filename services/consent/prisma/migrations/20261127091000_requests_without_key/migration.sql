-- AlterTable
ALTER TABLE "refused_request" ADD COLUMN     "without_key" INTEGER NOT NULL DEFAULT 0;
