-- AlterTable
ALTER TABLE "webhook_endpoint" ADD COLUMN     "paused_at" TIMESTAMPTZ(3);
