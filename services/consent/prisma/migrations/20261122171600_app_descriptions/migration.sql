-- NULL means not known: authorization of earlier releases does not report these, and consent of earlier releases does not store them.

-- AlterTable
ALTER TABLE "app" ADD COLUMN     "description" TEXT,
ADD COLUMN     "developer_name" TEXT;

-- AlterTable
ALTER TABLE "app_profile" ADD COLUMN     "description" TEXT,
ADD COLUMN     "developer_name" TEXT;
