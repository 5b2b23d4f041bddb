-- A copy of the operator's lock in the consent ledger (docs/decisions/0043).
ALTER TABLE "app" ADD COLUMN     "lock_kind" TEXT,
ADD COLUMN     "lock_reason" TEXT,
ADD COLUMN     "locked_at" TIMESTAMPTZ(3);
