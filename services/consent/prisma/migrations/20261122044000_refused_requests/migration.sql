-- Requests of apps that gateways refused, for the usage of an app. Few rows: endpoints and statuses are limited, old days are deleted.
CREATE TABLE "refused_request" (
    "client_id" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "endpoint" TEXT NOT NULL,
    "status" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "refused_request_pkey" PRIMARY KEY ("client_id","day","endpoint","status")
);

CREATE INDEX "refused_request_day_idx" ON "refused_request"("day");
