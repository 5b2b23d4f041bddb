-- Requests that gateways refused after the person had narrowed or ended a grant, for the person's history. One row a grant and day.
CREATE TABLE "refused_read" (
    "grant_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "refused_read_pkey" PRIMARY KEY ("grant_id","day")
);

CREATE INDEX "refused_read_day_idx" ON "refused_read"("day");
