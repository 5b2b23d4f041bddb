-- AlterTable
ALTER TABLE "app" ADD COLUMN     "jwks_failure" TEXT NOT NULL DEFAULT '';
