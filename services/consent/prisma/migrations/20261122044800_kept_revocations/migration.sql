-- The service can no longer delete revocations as it likes, nor date them back. Both functions delete at most 5,000 rows that expired
-- before the days to keep, which are two at least, and answer how many. They also go by revoked_at, which the service cannot set: an
-- expiry that was lowered removes nothing that may still be needed. Rows that somebody else holds are left out.

-- A refresh token lives for 30 days at most, so nothing of a family is alive 30 days after its revocation.
CREATE FUNCTION "prune_revoked_family"(keep_days integer, max_rows integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp AS $$
DECLARE
  pruned integer;
BEGIN
  IF keep_days IS NULL OR keep_days < 2 THEN RAISE EXCEPTION 'revocations are kept for two days at least beyond their expiry'; END IF;
  DELETE FROM revoked_family WHERE family_id = ANY(ARRAY(
    SELECT f.family_id FROM revoked_family f
    WHERE f.expires_at < statement_timestamp() - make_interval(days => keep_days)
      AND f.revoked_at < statement_timestamp() - interval '32 days'
    ORDER BY f.expires_at LIMIT least(max_rows, 5000) FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  RETURN pruned;
END
$$;

-- An access token lives for an hour at most.
CREATE FUNCTION "prune_revoked_token"(keep_days integer, max_rows integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp AS $$
DECLARE
  pruned integer;
BEGIN
  IF keep_days IS NULL OR keep_days < 2 THEN RAISE EXCEPTION 'revocations are kept for two days at least beyond their expiry'; END IF;
  DELETE FROM revoked_token WHERE token_hash = ANY(ARRAY(
    SELECT t.token_hash FROM revoked_token t
    WHERE t.expires_at < statement_timestamp() - make_interval(days => keep_days)
      AND t.revoked_at < statement_timestamp() - interval '3 days'
    ORDER BY t.expires_at LIMIT least(max_rows, 5000) FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  RETURN pruned;
END
$$;

REVOKE ALL ON FUNCTION "prune_revoked_family"(integer, integer), "prune_revoked_token"(integer, integer) FROM PUBLIC;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    REVOKE INSERT, UPDATE, DELETE ON "revoked_family", "revoked_token" FROM "phds_consent";
    GRANT INSERT ("family_id", "expires_at"), UPDATE ("expires_at") ON "revoked_family" TO "phds_consent";
    GRANT INSERT ("token_hash", "expires_at"), UPDATE ("expires_at") ON "revoked_token" TO "phds_consent";
    GRANT EXECUTE ON FUNCTION "prune_revoked_family"(integer, integer), "prune_revoked_token"(integer, integer) TO "phds_consent";
    -- No statement of the service deletes apps, or changes when an epoch began.
    REVOKE DELETE ON "app" FROM "phds_consent";
    REVOKE UPDATE, DELETE ON "app_epoch" FROM "phds_consent";
  END IF;
END
$$;
