-- CreateTable
CREATE TABLE "sandbox_person" (
    "user_id" TEXT COLLATE "C" NOT NULL,
    "begun_at" TIMESTAMPTZ(3) NOT NULL,
    "made_until" TIMESTAMPTZ(3),
    "used_at" TIMESTAMPTZ(3) NOT NULL,
    "arrives_at" TIMESTAMPTZ(3),
    "changes" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "sandbox_person_pkey" PRIMARY KEY ("user_id"),
    CONSTRAINT "sandbox_person_user_id_check" CHECK (starts_with("user_id", 'sandbox:'))
);
