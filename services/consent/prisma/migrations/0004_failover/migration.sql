-- What follows has no words in schema.prisma (docs/decisions/0011).

-- A database that took another's place and lacks nothing that was acknowledged: an entry that suspends nothing.
ALTER TABLE "consent_audit"."restore" DROP CONSTRAINT "restore_kind_check";
ALTER TABLE "consent_audit"."restore" ADD CONSTRAINT "restore_kind_check"
  CHECK ("kind" IN ('first', 'failover', 'detected', 'declared'));

-- The instances of the service. Each counts its position up after every change that it acknowledges, and remembers it.
CREATE TABLE "consent_audit"."instance" (
    "id" UUID NOT NULL,
    "position" BIGINT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "ended" BOOLEAN NOT NULL DEFAULT false,
    "vouched_for" TEXT,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
);

-- As before, without an error on a standby that was not promoted yet.
CREATE OR REPLACE VIEW "consent_audit"."present_database" AS
  SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE (SELECT system_identifier FROM pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
    || '/' || ('consent_audit.restore'::regclass)::oid END AS identity;

-- identified: the database is the one of the latest entry.
CREATE OR REPLACE VIEW "consent_audit"."suspension" AS
  SELECT
    CASE WHEN last.identity <> present.identity THEN 2147483647 ELSE coalesce(open.number, 0) END AS below,
    CASE WHEN last.identity <> present.identity THEN 'infinity' ELSE coalesce(open.at, '-infinity') END AS until,
    last.identity = present.identity AS identified
  FROM (SELECT r.identity FROM consent_audit.restore r ORDER BY r.number DESC LIMIT 1) last
  CROSS JOIN consent_audit.present_database present
  LEFT JOIN (SELECT r.number, r.at FROM consent_audit.restore r
    WHERE r.kind IN ('detected', 'declared')
      AND r.number > coalesce((SELECT max(c.number) FROM consent_audit.restore_confirmation c), 0)
    ORDER BY r.number DESC LIMIT 1) open ON true;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    GRANT SELECT, INSERT, UPDATE, DELETE ON "consent_audit"."instance" TO "phds_consent";
  END IF;
END
$$;
