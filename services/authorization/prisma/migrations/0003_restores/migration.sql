-- AlterTable
ALTER TABLE "access_token" ADD COLUMN     "restore_number" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "app" ADD COLUMN     "secret_restore_number" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "authorization_code" ADD COLUMN     "restore_number" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "refresh_token" ADD COLUMN     "restore_number" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "restore" (
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kind" TEXT NOT NULL,
    "identity" TEXT NOT NULL,

    CONSTRAINT "restore_pkey" PRIMARY KEY ("number")
);

-- CreateTable
CREATE TABLE "restore_confirmation" (
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "restore_confirmation_pkey" PRIMARY KEY ("number")
);

-- CreateTable
CREATE TABLE "instance" (
    "id" UUID NOT NULL,
    "position" BIGINT NOT NULL,
    "seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended" BOOLEAN NOT NULL DEFAULT false,
    "vouched_for" TEXT,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
);

-- AddForeignKey
ALTER TABLE "restore_confirmation" ADD CONSTRAINT "restore_confirmation_number_fkey" FOREIGN KEY ("number") REFERENCES "restore"("number") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What follows has no words in schema.prisma (docs/decisions/0011).

ALTER TABLE "restore" ADD CONSTRAINT "restore_kind_check"
  CHECK ("kind" IN ('first', 'failover', 'detected', 'declared'));

-- Entries can be added, by nobody changed: the trigger stops the owner's slips, the privileges the service itself.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "restore"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "restore_confirmation"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();

-- The number of the latest entry when a credential was made. A secret is made anew when it is rotated.
CREATE FUNCTION "note_restore"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.restore_number := (SELECT coalesce(max(r.number), 0) FROM "authorization".restore r);
  RETURN NEW;
END
$$;
CREATE TRIGGER "note_restore" BEFORE INSERT ON "authorization_code" FOR EACH ROW EXECUTE FUNCTION "note_restore"();
CREATE TRIGGER "note_restore" BEFORE INSERT ON "refresh_token" FOR EACH ROW EXECUTE FUNCTION "note_restore"();
CREATE TRIGGER "note_restore" BEFORE INSERT ON "access_token" FOR EACH ROW EXECUTE FUNCTION "note_restore"();

CREATE FUNCTION "note_restore_of_secret"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.secret_restore_number := (SELECT coalesce(max(r.number), 0) FROM "authorization".restore r);
  RETURN NEW;
END
$$;
CREATE TRIGGER "note_restore_of_first" BEFORE INSERT ON "app"
  FOR EACH ROW EXECUTE FUNCTION "note_restore_of_secret"();
CREATE TRIGGER "note_restore_of_next" BEFORE UPDATE OF "secret_hash" ON "app"
  FOR EACH ROW WHEN (NEW.secret_hash IS DISTINCT FROM OLD.secret_hash)
  EXECUTE FUNCTION "note_restore_of_secret"();

-- Views, not functions: they are planned once, as part of each statement that asks them.

-- What this database is: the cluster, its timeline (point-in-time recovery and promotion begin another), the database (a copy has
-- another id), and the table (a dump that is read back makes another).
CREATE VIEW "present_database" AS
  SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE (SELECT system_identifier FROM pg_control_system())
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || (SELECT oid FROM pg_database WHERE datname = current_database())
    || '/' || ('"authorization".restore'::regclass)::oid END AS identity;

-- Credentials of a number below are suspended. identified: the database is the one of the latest entry; while it is not, everything
-- is suspended. One row; none before the first start of the service.
CREATE VIEW "suspension" AS
  SELECT
    CASE WHEN last.identity <> present.identity THEN 2147483647 ELSE coalesce(open.number, 0) END AS below,
    last.identity = present.identity AS identified
  FROM (SELECT r.identity FROM "authorization".restore r ORDER BY r.number DESC LIMIT 1) last
  CROSS JOIN "authorization".present_database present
  LEFT JOIN (SELECT r.number FROM "authorization".restore r
    WHERE r.kind IN ('detected', 'declared')
      AND r.number > coalesce((SELECT max(c.number) FROM "authorization".restore_confirmation c), 0)
    ORDER BY r.number DESC LIMIT 1) open ON true;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_authorization') THEN
    REVOKE UPDATE, DELETE, TRUNCATE ON "restore", "restore_confirmation" FROM "phds_authorization";
    GRANT SELECT ON "present_database", "suspension" TO "phds_authorization";
  END IF;
END
$$;
