-- CreateTable
CREATE TABLE "reading_change" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "number" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "categories" TEXT[] COLLATE "C" NOT NULL,

    CONSTRAINT "reading_change_pkey" PRIMARY KEY ("user_id","number")
);

-- CreateTable
CREATE TABLE "deleted_reading" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "category" TEXT COLLATE "C" NOT NULL,
    "start_at" TIMESTAMPTZ(3) NOT NULL,
    "end_at" TIMESTAMPTZ(3) NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "change_number" BIGINT NOT NULL,

    CONSTRAINT "deleted_reading_pkey" PRIMARY KEY ("user_id","type","start_at","id")
);

-- CreateIndex
CREATE INDEX "reading_change_user_id_at_number_idx" ON "reading_change"("user_id", "at", "number");

-- CreateIndex
CREATE INDEX "deleted_reading_changes_idx" ON "deleted_reading"("user_id", "category", "change_number", "start_at");

-- AlterTable. Rewrites no row, because the default is a constant. Last, because nobody reads the table until the end of the transaction.
-- It has the column already if the index of the next migration was built before.
ALTER TABLE "reading" ADD COLUMN IF NOT EXISTS "change_number" BIGINT NOT NULL DEFAULT 0;
