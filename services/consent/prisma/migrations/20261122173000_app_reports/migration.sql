-- CreateTable
CREATE TABLE "app_report" (
    "id" TEXT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "client_id" TEXT NOT NULL,
    "app_name" TEXT NOT NULL,
    "redirect_host" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "text" TEXT NOT NULL,
    "user_id" TEXT,
    "grant_id" TEXT,
    "pending_id" TEXT,

    CONSTRAINT "app_report_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "app_report_at_id_idx" ON "app_report"("at", "id");

-- CreateIndex
CREATE INDEX "app_report_client_id_at_id_idx" ON "app_report"("client_id", "at", "id");

-- CreateIndex
CREATE INDEX "app_report_user_id_at_idx" ON "app_report"("user_id", "at");

-- The rest is not expressible in schema.prisma.

ALTER TABLE "app_report"
  ADD CONSTRAINT "app_report_reason_check" CHECK ("reason" IN ('data_use', 'impersonation', 'not_deleted', 'other')),
  ADD CONSTRAINT "app_report_subject_check" CHECK (("grant_id" IS NULL) <> ("pending_id" IS NULL));
