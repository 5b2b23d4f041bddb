-- AlterTable
ALTER TABLE "reading_change" ADD COLUMN     "claimed_until" TIMESTAMPTZ(3);
