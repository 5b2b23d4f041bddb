-- AlterTable
ALTER TABLE "app" ADD COLUMN     "allowed_origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "application_type" TEXT NOT NULL DEFAULT 'server';

-- AlterTable
ALTER TABLE "token_family" ADD COLUMN     "jkt" TEXT;
