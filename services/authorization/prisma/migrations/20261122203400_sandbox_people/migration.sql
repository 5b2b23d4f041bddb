-- AlterTable
ALTER TABLE "authorization_request" ADD COLUMN     "sandbox_person" TEXT;
