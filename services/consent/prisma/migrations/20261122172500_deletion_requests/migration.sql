-- AlterTable
ALTER TABLE "consent_grant" ADD COLUMN     "deletion_requested_at" TIMESTAMPTZ(3);

-- The rest is not expressible in schema.prisma.

ALTER TABLE "consent_event" DROP CONSTRAINT "consent_event_kind_check",
  ADD CONSTRAINT "consent_event_kind_check" CHECK ("kind" IN ('granted', 'narrowed', 'revoked', 'deletion_requested'));
