-- AlterTable
ALTER TABLE "access_token" ADD COLUMN     "jkt" TEXT;

-- AlterTable
ALTER TABLE "app" ADD COLUMN     "dpop_bound_access_tokens" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "jwks" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "jwks_asked_at" TIMESTAMPTZ(3),
ADD COLUMN     "jwks_fetched_at" TIMESTAMPTZ(3),
ADD COLUMN     "jwks_uri" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "keys_restore_number" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "require_pushed_authorization_requests" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "security_profile" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "token_endpoint_auth_method" TEXT NOT NULL DEFAULT 'client_secret_basic';

-- AlterTable
ALTER TABLE "authorization_code" ADD COLUMN     "dpop_jkt" TEXT;

-- AlterTable
ALTER TABLE "authorization_request" ADD COLUMN     "dpop_jkt" TEXT;

-- AlterTable
ALTER TABLE "token_family" ADD COLUMN     "is_bound" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "used_jwt" (
    "hash" BYTEA NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "used_jwt_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE INDEX "used_jwt_expires_at_idx" ON "used_jwt"("expires_at");

-- The rest is not expressible in schema.prisma.

-- Keys in a restored database may be ones that the developer had replaced, or come from a place that they had. What was fetched from
-- the same place again is not a choice of the developer, so it confirms nothing.
CREATE FUNCTION "note_restore_of_keys"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.keys_restore_number := (SELECT coalesce(max(r.number), 0) FROM "authorization".restore r);
  RETURN NEW;
END
$$;
CREATE TRIGGER "note_restore_of_first_keys" BEFORE INSERT ON "app"
  FOR EACH ROW EXECUTE FUNCTION "note_restore_of_keys"();
CREATE TRIGGER "note_restore_of_next_keys" BEFORE UPDATE OF "jwks", "jwks_uri" ON "app"
  FOR EACH ROW WHEN (NEW.jwks_uri IS DISTINCT FROM OLD.jwks_uri OR (NEW.jwks_uri = '' AND NEW.jwks IS DISTINCT FROM OLD.jwks))
  EXECUTE FUNCTION "note_restore_of_keys"();
