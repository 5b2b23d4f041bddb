-- AlterTable
ALTER TABLE "consent_grant" ADD COLUMN "restore_number" INTEGER NOT NULL DEFAULT 0;

-- What follows has no words in schema.prisma (docs/decisions/0011).

-- Each time that the ledger was found to be another database than before, or was said to have been put back.
CREATE TABLE "consent_audit"."restore" (
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),
    "kind" TEXT NOT NULL,
    "identity" TEXT NOT NULL,

    CONSTRAINT "restore_pkey" PRIMARY KEY ("number"),
    CONSTRAINT "restore_kind_check" CHECK ("kind" IN ('first', 'detected', 'declared'))
);
-- An operator's word for everything up to that number.
CREATE TABLE "consent_audit"."restore_confirmation" (
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT statement_timestamp(),

    CONSTRAINT "restore_confirmation_pkey" PRIMARY KEY ("number"),
    CONSTRAINT "restore_confirmation_number_fkey" FOREIGN KEY ("number") REFERENCES "consent_audit"."restore"("number")
);
SELECT "make_append_only"('consent_audit.restore', 'SELECT, INSERT');
SELECT "make_append_only"('consent_audit.restore_confirmation', 'SELECT, INSERT');

-- Views, not functions: they are planned once, as part of each statement that asks them.

-- What this database is: the cluster, its timeline (point-in-time recovery and promotion begin another), the database (a copy has
-- another id), and the table (a dump that is read back makes another).
CREATE VIEW "consent_audit"."present_database" AS
  SELECT (SELECT system_identifier FROM pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
    || '/' || ('consent_audit.restore'::regclass)::oid AS identity;

-- Grants of a number below are suspended, as are credentials without a grant issued no later than until. One row; none before the
-- first start of the service. Everything is suspended while nobody has written down what database this is.
CREATE VIEW "consent_audit"."suspension" AS
  SELECT
    CASE WHEN last.identity <> present.identity THEN 2147483647 ELSE coalesce(open.number, 0) END AS below,
    CASE WHEN last.identity <> present.identity THEN 'infinity' ELSE coalesce(open.at, '-infinity') END AS until
  FROM (SELECT r.identity FROM consent_audit.restore r ORDER BY r.number DESC LIMIT 1) last
  CROSS JOIN consent_audit.present_database present
  LEFT JOIN (SELECT r.number, r.at FROM consent_audit.restore r
    WHERE r.kind <> 'first' AND r.number > coalesce((SELECT max(c.number) FROM consent_audit.restore_confirmation c), 0)
    ORDER BY r.number DESC LIMIT 1) open ON true;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    GRANT SELECT ON "consent_audit"."present_database", "consent_audit"."suspension" TO "phds_consent";
  END IF;
END
$$;
