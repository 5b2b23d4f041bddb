-- Not expressible in schema.prisma. For the number of running imports, which is exported as a metric. Contains only imports that have not
-- ended; a report of progress changes none of its columns. Built unless it was built before the migration with CREATE INDEX CONCURRENTLY.
DO $$
BEGIN
  IF EXISTS (
    SELECT FROM pg_index
    WHERE indexrelid = to_regclass('"import_running_idx"') AND NOT indisvalid
  ) THEN
    RAISE EXCEPTION 'index import_running_idx is not valid: its build was interrupted or has not ended'
      USING HINT = 'Wait for the build, or DROP INDEX CONCURRENTLY and build it again.';
  END IF;
END
$$;
CREATE INDEX IF NOT EXISTS "import_running_idx" ON "import"("user_id") WHERE "state" = 'running';
