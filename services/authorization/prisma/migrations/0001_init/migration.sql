-- CreateEnum
CREATE TYPE "app_status" AS ENUM ('active', 'suspended', 'revoked');

-- CreateTable
CREATE TABLE "app" (
    "client_id" TEXT NOT NULL,
    "owner_id" TEXT NOT NULL,
    "profile" JSONB NOT NULL,
    "redirect_uris" TEXT[],
    "scopes" TEXT[],
    "require_pkce" BOOLEAN NOT NULL DEFAULT false,
    "status" "app_status" NOT NULL,
    "epoch" INTEGER NOT NULL,
    "ledger_revision" INTEGER NOT NULL,
    "status_changed_at" TIMESTAMPTZ(3) NOT NULL,
    "lock_kind" TEXT,
    "lock_reason" TEXT,
    "locked_at" TIMESTAMPTZ(3),
    "secret_hash" BYTEA,
    "secret_last4" TEXT NOT NULL,
    "secret_rotated_at" TIMESTAMPTZ(3) NOT NULL,
    "secret_restore_number" INTEGER NOT NULL DEFAULT 0,
    "application_type" TEXT NOT NULL DEFAULT 'server',
    "token_endpoint_auth_method" TEXT NOT NULL DEFAULT 'client_secret_basic',
    "jwks" TEXT NOT NULL DEFAULT '',
    "jwks_uri" TEXT NOT NULL DEFAULT '',
    "jwks_fetched_at" TIMESTAMPTZ(3),
    "jwks_asked_at" TIMESTAMPTZ(3),
    "jwks_failure" TEXT NOT NULL DEFAULT '',
    "keys_restore_number" INTEGER NOT NULL DEFAULT 0,
    "dpop_bound_access_tokens" BOOLEAN NOT NULL DEFAULT false,
    "require_pushed_authorization_requests" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "developer" (
    "user_id" TEXT NOT NULL,
    "added_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "developer_pkey" PRIMARY KEY ("user_id")
);

-- CreateTable
CREATE TABLE "authorization_request" (
    "pending_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "app_epoch" INTEGER NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "state" TEXT,
    "code_challenge" TEXT,
    "dpop_jkt" TEXT,
    "scopes" TEXT[],
    "asked_words" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "include_granted_scopes" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "authorization_request_pkey" PRIMARY KEY ("pending_id")
);

-- CreateTable
CREATE TABLE "authorization_code" (
    "hash" BYTEA NOT NULL,
    "pending_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "scopes" TEXT[],
    "include_granted_scopes" BOOLEAN NOT NULL DEFAULT false,
    "redirect_uri" TEXT NOT NULL,
    "code_challenge" TEXT,
    "dpop_jkt" TEXT,
    "asked_words" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "app_epoch" INTEGER NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "consumed_at" TIMESTAMPTZ(3),
    "family_id" TEXT,
    "failed_attempts" INTEGER NOT NULL DEFAULT 0,
    "restore_number" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "authorization_code_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "token_family" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "app_epoch" INTEGER NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "is_bound" BOOLEAN NOT NULL DEFAULT false,
    "jkt" TEXT,
    "asked_words" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "grows" BOOLEAN NOT NULL DEFAULT false,
    "refresh_hash" BYTEA NOT NULL,
    "previous_hash" BYTEA,
    "generation" INTEGER NOT NULL DEFAULT 0,
    "rotated_at" TIMESTAMPTZ(3),
    "rotated_scope" TEXT,
    "restore_number" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "token_family_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "access_token" (
    "hash" BYTEA NOT NULL,
    "family_id" TEXT,
    "client_id" TEXT NOT NULL,
    "user_id" TEXT,
    "grant_id" TEXT,
    "scopes" TEXT[],
    "jkt" TEXT,
    "app_epoch" INTEGER NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "restore_number" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "access_token_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "used_jwt" (
    "hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "used_jwt_pkey" PRIMARY KEY ("hash")
);

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
    "stopped" BOOLEAN NOT NULL DEFAULT false,
    "complete_in" TEXT,

    CONSTRAINT "instance_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "app_owner_id_created_at_client_id_idx" ON "app"("owner_id", "created_at" DESC, "client_id");

-- CreateIndex
CREATE INDEX "authorization_request_created_at_idx" ON "authorization_request"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "authorization_code_pending_id_key" ON "authorization_code"("pending_id");

-- CreateIndex
CREATE INDEX "authorization_code_expires_at_idx" ON "authorization_code"("expires_at");

-- CreateIndex
CREATE INDEX "authorization_code_user_id_idx" ON "authorization_code"("user_id");

-- CreateIndex
CREATE INDEX "token_family_expires_at_idx" ON "token_family"("expires_at");

-- CreateIndex
CREATE INDEX "token_family_user_id_idx" ON "token_family"("user_id");

-- CreateIndex
CREATE INDEX "access_token_family_id_idx" ON "access_token"("family_id");

-- CreateIndex
CREATE INDEX "access_token_expires_at_idx" ON "access_token"("expires_at");

-- CreateIndex
CREATE INDEX "used_jwt_expires_at_idx" ON "used_jwt"("expires_at");

-- AddForeignKey
ALTER TABLE "access_token" ADD CONSTRAINT "access_token_family_id_fkey" FOREIGN KEY ("family_id") REFERENCES "token_family"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "restore_confirmation" ADD CONSTRAINT "restore_confirmation_number_fkey" FOREIGN KEY ("number") REFERENCES "restore"("number") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What follows has no words in schema.prisma.

-- What is kept of a secret is a SHA-256 and nothing else; the database refuses anything of another length.
ALTER TABLE "app" ADD CONSTRAINT "app_secret_hash_is_sha256" CHECK (octet_length("secret_hash") = 32);
ALTER TABLE "token_family"
  ADD CONSTRAINT "token_family_refresh_hash_is_sha256" CHECK (octet_length("refresh_hash") = 32),
  ADD CONSTRAINT "token_family_previous_hash_is_sha256" CHECK (octet_length("previous_hash") = 32);

-- A consumed code names the family that its exchange made.
ALTER TABLE "authorization_code"
  ADD CONSTRAINT "authorization_code_hash_is_sha256" CHECK (octet_length("hash") = 32),
  ADD CONSTRAINT "authorization_code_consumed_with_family" CHECK (("consumed_at" IS NULL) = ("family_id" IS NULL));

-- A token is bound to a user, a grant and a family, or to none of them.
ALTER TABLE "access_token"
  ADD CONSTRAINT "access_token_hash_is_sha256" CHECK (octet_length("hash") = 32),
  ADD CONSTRAINT "access_token_bound_whole" CHECK (num_nulls("user_id", "grant_id", "family_id") IN (0, 3));

-- Every second each replica looks for keys that are to be fetched.
CREATE INDEX "app_jwks_asked_at_idx" ON "app"("jwks_asked_at") WHERE "jwks_uri" <> '';

-- Restored databases.

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
CREATE TRIGGER "note_restore" BEFORE INSERT OR UPDATE OF "refresh_hash" ON "token_family" FOR EACH ROW EXECUTE FUNCTION "note_restore"();
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

-- Keys in a restored database may be ones that the developer had replaced, or come from a place that they had. What was fetched from
-- the same place again is not a choice of the developer, so it confirms nothing. With another `jwks_uri` the keys so far work until its own
-- were fetched, but not keys that a restore has suspended: one of them may have been removed since the backup.
CREATE FUNCTION "note_restore_of_keys"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.keys_restore_number := (SELECT coalesce(max(r.number), 0) FROM "authorization".restore r);
  IF TG_OP = 'UPDATE' THEN
    IF NEW.jwks_uri <> '' AND OLD.keys_restore_number < NEW.keys_restore_number THEN
      NEW.jwks := '';
      NEW.jwks_fetched_at := NULL;
    END IF;
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER "note_restore_of_first_keys" BEFORE INSERT ON "app"
  FOR EACH ROW EXECUTE FUNCTION "note_restore_of_keys"();
CREATE TRIGGER "note_restore_of_next_keys" BEFORE UPDATE OF "jwks", "jwks_uri" ON "app"
  FOR EACH ROW WHEN (NEW.jwks_uri IS DISTINCT FROM OLD.jwks_uri OR (NEW.jwks_uri = '' AND NEW.jwks IS DISTINCT FROM OLD.jwks))
  EXECUTE FUNCTION "note_restore_of_keys"();

-- What cannot change during a connection. A connection is one process of one running server, in one database. The identifier of a cluster is
-- written when the cluster is made, and every program that changes it requires that the server is stopped, which ends its connections.
-- Planning calls an IMMUTABLE function once, so a prepared statement has them as constants. Reading the identifier for each statement
-- read a file. What can change during a connection, the end of recovery and the timeline, is evaluated each time.
CREATE FUNCTION "cluster_of_connection"() RETURNS bigint LANGUAGE sql IMMUTABLE
  AS 'SELECT system_identifier FROM pg_control_system()';
CREATE FUNCTION "database_of_connection"() RETURNS oid LANGUAGE sql IMMUTABLE
  AS 'SELECT oid FROM pg_database WHERE datname = current_database()';

-- Views, not functions: they are planned once, as part of each statement that asks them.

-- What this database is: the cluster, its timeline (point-in-time recovery and promotion begin another), the database (a copy has
-- another id), and the table (a dump that is read back makes another).
CREATE VIEW "present_database" AS
  SELECT CASE WHEN pg_is_in_recovery() THEN 'a standby' ELSE "authorization"."cluster_of_connection"()
    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
    || '/' || "authorization"."database_of_connection"()
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
    -- No statement of the service deletes apps: a revoked one stays, with its status and epoch.
    REVOKE DELETE ON "app" FROM "phds_authorization";
    REVOKE UPDATE, DELETE, TRUNCATE ON "restore", "restore_confirmation" FROM "phds_authorization";
    GRANT SELECT ON "present_database", "suspension" TO "phds_authorization";
  END IF;
END
$$;
