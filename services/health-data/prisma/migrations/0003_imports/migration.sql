-- CreateTable
CREATE TABLE "import" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "format" TEXT COLLATE "C" NOT NULL,
    "digest" TEXT COLLATE "C" NOT NULL,
    "size" BIGINT NOT NULL,
    "state" TEXT NOT NULL,
    "run" INTEGER NOT NULL,
    "position" BIGINT NOT NULL,
    "report" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "reported_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "import_pkey" PRIMARY KEY ("user_id","format","digest")
);
