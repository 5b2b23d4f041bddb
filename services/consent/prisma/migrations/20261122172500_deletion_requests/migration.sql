-- AlterTable
ALTER TABLE "consent_grant" ADD COLUMN     "deletion_requested_at" TIMESTAMPTZ(3);

-- The rest is not expressible in schema.prisma.

-- Nobody can record an access, approve or revoke until this commits, so it reads no rows: the constraint holds for new rows, and
-- 20261122184500_valid_event_kinds validates the others.
ALTER TABLE "consent_event" DROP CONSTRAINT "consent_event_kind_check",
  ADD CONSTRAINT "consent_event_kind_check" CHECK ("kind" IN ('granted', 'narrowed', 'revoked', 'deletion_requested')) NOT VALID;
