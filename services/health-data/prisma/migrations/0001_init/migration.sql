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

    CONSTRAINT "reading_pkey" PRIMARY KEY ("user_id","id")
);

-- CreateIndex
CREATE INDEX "reading_user_id_category_start_at_id_idx" ON "reading"("user_id", "category", "start_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "reading_user_id_type_start_at_id_idx" ON "reading"("user_id", "type", "start_at" DESC, "id" DESC);

-- CreateTable
CREATE TABLE "reading_count" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "category" TEXT COLLATE "C" NOT NULL,
    "type" TEXT COLLATE "C" NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "reading_count_pkey" PRIMARY KEY ("user_id","category","type")
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

-- CreateIndex
CREATE INDEX "symptom_user_id_occurred_at_id_idx" ON "symptom"("user_id", "occurred_at" DESC, "id" DESC);

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

-- CreateIndex
CREATE INDEX "adherence_entry_user_id_medication_id_at_id_idx" ON "adherence_entry"("user_id", "medication_id", "at" DESC, "id" DESC);

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

-- CreateIndex
CREATE INDEX "appointment_user_id_starts_at_id_idx" ON "appointment"("user_id", "starts_at" DESC, "id" DESC);

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

-- CreateIndex
CREATE INDEX "mood_entry_user_id_occurred_at_id_idx" ON "mood_entry"("user_id", "occurred_at" DESC, "id" DESC);

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

-- CreateIndex
CREATE INDEX "report_user_id_generated_at_id_idx" ON "report"("user_id", "generated_at" DESC, "id" DESC);

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

-- CreateIndex
CREATE INDEX "ehr_record_user_id_occurred_at_id_idx" ON "ehr_record"("user_id", "occurred_at" DESC, "id" DESC);

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
