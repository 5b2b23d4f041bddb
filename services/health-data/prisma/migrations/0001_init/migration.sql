-- Keys and codes compare byte by byte (COLLATE "C"): faster than a language's order, and the same on every server.

-- CreateTable
CREATE TABLE "reading" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "category" TEXT COLLATE "C" NOT NULL,
    "start_at" TIMESTAMPTZ(3) NOT NULL,
    "end_at" TIMESTAMPTZ(3) NOT NULL,
    "value" DOUBLE PRECISION,
    "source" TEXT COLLATE "C" NOT NULL,
    "change_number" BIGINT NOT NULL,

    CONSTRAINT "reading_pkey" PRIMARY KEY ("user_id","type","start_at","id")
);

-- CreateTable
CREATE TABLE "reading_change" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "number" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "categories" TEXT[] COLLATE "C" NOT NULL,
    "reported" BOOLEAN NOT NULL DEFAULT false,
    "claimed_until" TIMESTAMPTZ(3),

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

-- CreateTable
CREATE TABLE "reading_count" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "span" TEXT COLLATE "C" NOT NULL,
    "start_at" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "reading_count_pkey" PRIMARY KEY ("user_id","type","span","start_at")
);

-- CreateTable
CREATE TABLE "reading_quarter" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "count" INTEGER NOT NULL,
    "sum" DOUBLE PRECISION NOT NULL,
    "min" DOUBLE PRECISION NOT NULL,
    "max" DOUBLE PRECISION NOT NULL,
    "below" INTEGER NOT NULL,
    "above" INTEGER NOT NULL,

    CONSTRAINT "reading_quarter_pkey" PRIMARY KEY ("user_id","type","at","source")
);

-- CreateTable
CREATE TABLE "symptom" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "description" TEXT NOT NULL,
    "severity" TEXT COLLATE "C",
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "symptom_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "medication" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "sort_name" TEXT COLLATE "C" NOT NULL,
    "dosage" TEXT,
    "frequency" TEXT,
    "condition" TEXT,
    "pattern" TEXT COLLATE "C",

    CONSTRAINT "medication_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "adherence_entry" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "medication_id" UUID NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "scheduled_at" TIMESTAMPTZ(3),
    "status" TEXT COLLATE "C" NOT NULL,
    "taken_at" TIMESTAMPTZ(3),
    "dose" TEXT,
    "reason" TEXT,

    CONSTRAINT "adherence_entry_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "condition" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "severity" TEXT COLLATE "C",
    "since_date" TEXT COLLATE "C",
    "since_on" DATE,

    CONSTRAINT "condition_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "allergy" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "name" TEXT NOT NULL,
    "severity" TEXT COLLATE "C",
    "since_date" TEXT COLLATE "C",
    "since_on" DATE,

    CONSTRAINT "allergy_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "appointment" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "title" TEXT NOT NULL,
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "offset_minutes" INTEGER NOT NULL,
    "specialty" TEXT,
    "location" TEXT,

    CONSTRAINT "appointment_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "mood_entry" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "mood" TEXT COLLATE "C" NOT NULL,
    "note" TEXT,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mood_entry_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "report" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "generated_at" TIMESTAMPTZ(3) NOT NULL,
    "range_from" DATE NOT NULL,
    "range_to" DATE NOT NULL,
    "summary" TEXT NOT NULL,

    CONSTRAINT "report_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "ehr_record" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "id" UUID NOT NULL,
    "source" TEXT COLLATE "C" NOT NULL,
    "resource_type" TEXT COLLATE "C" NOT NULL,
    "summary" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ehr_record_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateTable
CREATE TABLE "profile" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "name" TEXT,
    "gender" TEXT,
    "date_of_birth" DATE,
    "blood_type" TEXT,
    "time_zone" TEXT,

    CONSTRAINT "profile_pkey" PRIMARY KEY ("user_id")
);

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

-- CreateIndex
CREATE INDEX "reading_user_id_category_start_at_id_idx" ON "reading"("user_id", "category", "start_at", "id");

-- CreateIndex
CREATE INDEX "reading_change_user_id_at_number_idx" ON "reading_change"("user_id", "at", "number");

-- CreateIndex
CREATE INDEX "deleted_reading_changes_idx" ON "deleted_reading"("user_id", "category", "change_number", "start_at");

-- CreateIndex
CREATE INDEX "symptom_user_id_occurred_at_id_idx" ON "symptom"("user_id", "occurred_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "adherence_entry_user_id_medication_id_at_id_idx" ON "adherence_entry"("user_id", "medication_id", "at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "appointment_user_id_starts_at_id_idx" ON "appointment"("user_id", "starts_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "mood_entry_user_id_occurred_at_id_idx" ON "mood_entry"("user_id", "occurred_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "report_user_id_generated_at_id_idx" ON "report"("user_id", "generated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "ehr_record_user_id_occurred_at_id_idx" ON "ehr_record"("user_id", "occurred_at" DESC, "id" DESC);

-- What follows has no words in schema.prisma.

-- The condition is true for every row. It keeps the index from statements that do not name change_number: by a plan made on empty
-- tables, they would find the readings of a period with it, and read all readings of the category.
CREATE INDEX "reading_changes_idx" ON "reading"("user_id", "category", "change_number", "start_at") WHERE "change_number" >= 0;

-- Changes that consent has not been told about, the oldest first. Contains only what waits, so that a write pays for a short index.
CREATE INDEX "reading_change_waiting_idx" ON "reading_change"("at", "user_id", "number") WHERE NOT "reported";

-- For the number of running imports, which is exported as a metric. Contains only imports that have not ended; a report of progress changes
-- none of its columns.
CREATE INDEX "import_running_idx" ON "import"("user_id") WHERE "state" = 'running';
