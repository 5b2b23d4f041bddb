-- CreateIndex, unless it was built before the migration with CREATE INDEX CONCURRENTLY, as a large table needs (docs/deploying.md). An
-- interrupted build leaves an index that is not valid: no statement uses it, and IF NOT EXISTS accepts it.
-- The condition is true for every row. It keeps the index from statements that do not name change_number: by a plan made on empty
-- tables, they would find the readings of a period with it, and read all readings of the category.
DO $$
BEGIN
  IF EXISTS (
    SELECT FROM pg_index
    WHERE indexrelid = to_regclass('"reading_changes_idx"') AND NOT indisvalid
  ) THEN
    RAISE EXCEPTION 'index reading_changes_idx is not valid: its build was interrupted or has not ended'
      USING HINT = 'Wait for the build, or DROP INDEX CONCURRENTLY and build it again.';
  END IF;
END
$$;
CREATE INDEX IF NOT EXISTS "reading_changes_idx" ON "reading"("user_id", "category", "change_number", "start_at")
  WHERE "change_number" >= 0;
