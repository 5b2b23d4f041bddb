-- The readings of a type in the order of time are the primary key itself: one index less, and an import writes in one
-- place. The id is the hash of a key that holds type and start, so it names the same row as before.

-- DropIndex
DROP INDEX "reading_user_id_category_start_at_id_idx";

-- DropIndex
DROP INDEX "reading_user_id_type_start_at_id_idx";

-- AlterTable
ALTER TABLE "reading" DROP CONSTRAINT "reading_pkey",
ADD CONSTRAINT "reading_pkey" PRIMARY KEY ("user_id", "type", "start_at", "id");

-- CreateIndex
CREATE INDEX "reading_user_id_category_start_at_id_idx" ON "reading"("user_id", "category", "start_at", "id");

-- Counted anew below.
DROP TABLE "reading_count";

-- CreateTable
CREATE TABLE "reading_count" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "span" TEXT COLLATE "C" NOT NULL,
    "start_at" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "reading_count_pkey" PRIMARY KEY ("user_id","type","span","start_at")
);

INSERT INTO "reading_count" ("user_id", "type", "span", "start_at", "count")
SELECT "user_id", "type", "span", "start", count(*)
FROM "reading", LATERAL (VALUES
    ('hour', date_trunc('hour', "start_at", 'UTC')),
    ('day', date_trunc('day', "start_at", 'UTC')),
    ('month', date_trunc('month', "start_at", 'UTC')),
    ('year', date_trunc('year', "start_at", 'UTC')),
    ('all', '-infinity'::timestamptz)
) AS "counted"("span", "start")
GROUP BY 1, 2, 3, 4;

-- The tables below start empty: without a row in rollup_state they are not used, and the service fills them.

-- CreateTable
CREATE TABLE "hour_rollup" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,
    "sum" DOUBLE PRECISION NOT NULL,
    "min" DOUBLE PRECISION NOT NULL,
    "max" DOUBLE PRECISION NOT NULL,
    "below" INTEGER NOT NULL,
    "above" INTEGER NOT NULL,

    CONSTRAINT "hour_rollup_pkey" PRIMARY KEY ("user_id","type","hour")
);

-- CreateTable
CREATE TABLE "day_rollup" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "span" TEXT COLLATE "C" NOT NULL,
    "start_on" DATE NOT NULL,
    "count" INTEGER NOT NULL,
    "sum" DOUBLE PRECISION NOT NULL,
    "min" DOUBLE PRECISION NOT NULL,
    "max" DOUBLE PRECISION NOT NULL,
    "below" INTEGER NOT NULL,
    "above" INTEGER NOT NULL,
    "hours" INTEGER NOT NULL,
    "days" INTEGER NOT NULL,

    CONSTRAINT "day_rollup_pkey" PRIMARY KEY ("user_id","type","span","start_on")
);

-- CreateTable
CREATE TABLE "rollup_state" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "time_zone" TEXT COLLATE "C" NOT NULL,
    "version" TEXT COLLATE "C" NOT NULL,

    CONSTRAINT "rollup_state_pkey" PRIMARY KEY ("user_id")
);
