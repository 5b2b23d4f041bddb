-- What identifies a person to one app, as a number of 128 bits: the `sub` of the OAuth interface. The reference of a person is random, no
-- app ever gets it, and an erasure removes it. So apps cannot compare their numbers, and a person who returns after an erasure has others.
CREATE OR REPLACE FUNCTION "sub_hash"("user_ref" UUID, "client_id" TEXT) RETURNS BYTEA LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN substr(sha256(uuid_send("user_ref") || convert_to("client_id", 'UTF8')), 1, 16);

-- CreateIndex, unless it was built before the migration with CREATE INDEX CONCURRENTLY, as a large table may need. An interrupted build
-- leaves an index that is not valid: no statement uses it, and IF NOT EXISTS accepts it.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_index WHERE indexrelid = to_regclass('"consent_grant_sub_idx"') AND NOT indisvalid) THEN
    RAISE EXCEPTION 'index consent_grant_sub_idx is not valid: its build was interrupted or has not ended'
      USING HINT = 'Wait for the build, or DROP INDEX CONCURRENTLY and build it again.';
  END IF;
END
$$;
CREATE INDEX IF NOT EXISTS "consent_grant_sub_idx" ON "consent_grant" ("sub_hash"("user_ref", "client_id"));
