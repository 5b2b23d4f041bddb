-- AlterTable
ALTER TABLE "app" ADD COLUMN     "key_uses" JSONB NOT NULL DEFAULT '{}';
