-- AlterTable
ALTER TABLE "app" ADD COLUMN     "previous_secret_expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_secret_hash" BYTEA,
ADD COLUMN     "previous_secret_last4" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "previous_secret_restore_number" INTEGER NOT NULL DEFAULT 0;

-- The rest is not expressible in schema.prisma.

ALTER TABLE "app" ADD CONSTRAINT "app_previous_secret_hash_is_sha256"
  CHECK ("previous_secret_hash" IS NULL OR octet_length("previous_secret_hash") = 32);

-- Whatever changes the secret, an instance of the earlier release included, leaves at most the secret that it replaces: an older one ends,
-- and a revocation of the app, which removes the secret, removes both.
CREATE FUNCTION "end_previous_secret"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.secret_hash IS NULL OR NEW.previous_secret_hash IS DISTINCT FROM OLD.secret_hash THEN
    NEW.previous_secret_hash := NULL;
  END IF;
  IF NEW.previous_secret_hash IS NULL THEN
    NEW.previous_secret_last4 := '';
    NEW.previous_secret_expires_at := NULL;
  END IF;
  NEW.previous_secret_restore_number := OLD.secret_restore_number;
  RETURN NEW;
END
$$;
CREATE TRIGGER "end_previous_secret" BEFORE UPDATE OF "secret_hash" ON "app"
  FOR EACH ROW WHEN (NEW.secret_hash IS DISTINCT FROM OLD.secret_hash)
  EXECUTE FUNCTION "end_previous_secret"();
