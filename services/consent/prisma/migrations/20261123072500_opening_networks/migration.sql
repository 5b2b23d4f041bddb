-- Networks share the places of requests without a secret. Rows of earlier releases count as those of one network.
ALTER TABLE "pending_approval" ADD COLUMN "network" TEXT NOT NULL DEFAULT '';
