-- CreateTable
CREATE TABLE "session_end" (
    "kind" TEXT NOT NULL,
    "value_hash" BYTEA NOT NULL,
    "ended_at" TIMESTAMPTZ(3) NOT NULL,
    "recorded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "session_end_pkey" PRIMARY KEY ("kind","value_hash","ended_at")
);

-- CreateIndex
CREATE INDEX "session_end_recorded_at_idx" ON "session_end"("recorded_at");

-- The rest is not expressible in schema.prisma (docs/decisions/0024).

ALTER TABLE "session_end" ADD CONSTRAINT "session_end_kind_check"
  CHECK ("kind" IN ('token', 'sid', 'subject', 'subject_without_sid'));

-- A session is accepted for at most 24 hours after it was issued. The second day covers clocks that differ. recorded_at, which the
-- service cannot set, protects rows whose ended_at is wrong.
CREATE FUNCTION "prune_session_end"(max_rows integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp AS $$
DECLARE
  pruned integer;
BEGIN
  DELETE FROM session_end WHERE ctid = ANY(ARRAY(
    SELECT s.ctid FROM session_end s
    WHERE s.recorded_at < statement_timestamp() - interval '2 days'
      AND s.ended_at < statement_timestamp() - interval '2 days'
    ORDER BY s.recorded_at LIMIT least(max_rows, 5000) FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  RETURN pruned;
END
$$;

REVOKE ALL ON FUNCTION "prune_session_end"(integer) FROM PUBLIC;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    REVOKE INSERT, UPDATE, DELETE ON "session_end" FROM "phds_consent";
    GRANT INSERT ("kind", "value_hash", "ended_at") ON "session_end" TO "phds_consent";
    GRANT EXECUTE ON FUNCTION "prune_session_end"(integer) TO "phds_consent";
  END IF;
END
$$;
