-- AlterTable
ALTER TABLE "app" ADD COLUMN     "developer_name" TEXT NOT NULL DEFAULT '';
