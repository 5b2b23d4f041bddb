-- Deletes some checkpoints with lower numbers, if they are older than 90 days and than the records that are kept; answers how many.
-- The trigger that keeps the table append-only, also against its owner, is off for this transaction alone.
CREATE FUNCTION "drop_access_checkpoints"(first_kept integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp SET lock_timeout = '250ms' AS $$
DECLARE
  kept_since timestamptz;
  dropped integer;
BEGIN
  SELECT max(d.kept_from) INTO kept_since FROM consent_audit.access_dropped d;
  IF kept_since IS NULL THEN RETURN 0; END IF;
  kept_since := least(kept_since, now() - interval '90 days');
  IF NOT EXISTS (SELECT FROM consent_audit.access_checkpoint c WHERE c.number < first_kept AND c.at < kept_since) THEN
    RETURN 0;
  END IF;
  ALTER TABLE consent_audit.access_checkpoint DISABLE TRIGGER append_only;
  DELETE FROM consent_audit.access_checkpoint WHERE number IN (
    SELECT c.number FROM consent_audit.access_checkpoint c
    WHERE c.number < first_kept AND c.at < kept_since ORDER BY c.number LIMIT 5000);
  GET DIAGNOSTICS dropped = ROW_COUNT;
  ALTER TABLE consent_audit.access_checkpoint ENABLE TRIGGER append_only;
  RETURN dropped;
END
$$;

REVOKE ALL ON FUNCTION "drop_access_checkpoints"(integer) FROM PUBLIC;

DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    GRANT EXECUTE ON FUNCTION "drop_access_checkpoints"(integer) TO "phds_consent";
  END IF;
END
$$;
