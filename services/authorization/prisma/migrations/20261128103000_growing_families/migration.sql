-- AlterTable
ALTER TABLE "token_family" ADD COLUMN     "grows" BOOLEAN NOT NULL DEFAULT false;
