-- History that proves nothing about people, or nothing any more, is deleted by two functions of the owner, which say so to the trigger. The
-- service has no right to delete from either table, so that saying so itself helps it nothing.
CREATE OR REPLACE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_TABLE_NAME = current_setting('phds.pruned_table', true) THEN RETURN NULL; END IF;
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;

-- Deletes some grants of sandbox people that ended before the days to keep, with their events; answers how many grants. Whatever the caller
-- says, two days stay, so that no token of a grant outlives it by its own time and webhooks have found its end.
CREATE FUNCTION "prune_sandbox_grants"(keep_days integer, max_rows integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp AS $$
DECLARE
  pruned text[];
BEGIN
  IF keep_days IS NULL OR keep_days < 2 THEN RAISE EXCEPTION 'grants of the sandbox are kept for two days at least'; END IF;
  pruned := ARRAY(SELECT g.id FROM consent_grant g
    WHERE starts_with(g.client_id, 'app_sandbox_')
      AND least(g.revoked_at, g.expires_at) < statement_timestamp() - make_interval(days => keep_days)
    ORDER BY least(g.revoked_at, g.expires_at) LIMIT least(max_rows, 5000) FOR UPDATE SKIP LOCKED);
  PERFORM set_config('phds.pruned_table', 'consent_event', true);
  DELETE FROM consent_event e WHERE e.grant_id = ANY(pruned);
  PERFORM set_config('phds.pruned_table', '', true);
  DELETE FROM consent_grant g WHERE g.id = ANY(pruned);
  RETURN cardinality(pruned);
END
$$;

-- Deletes some ends of dropped chains that nothing continues or signs any more; answers how many. No stored batch may continue one, and the
-- days to keep before the newest drop and the oldest kept checkpoint cover a process that was idle, and heads that a checkpoint repeats. Whatever
-- the caller says, 90 days stay.
CREATE FUNCTION "prune_access_dropped"(keep_days integer, max_rows integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = consent, pg_temp AS $$
DECLARE
  pruned integer;
BEGIN
  IF keep_days IS NULL OR keep_days < 90 THEN RAISE EXCEPTION 'ends of dropped chains are kept for 90 days at least'; END IF;
  PERFORM set_config('phds.pruned_table', 'access_dropped', true);
  DELETE FROM consent_audit.access_dropped d WHERE d.ctid = ANY(ARRAY(
    SELECT o.ctid FROM consent_audit.access_dropped o
    WHERE o.kept_from < least((SELECT max(kept_from) FROM consent_audit.access_dropped),
        (SELECT at FROM consent_audit.access_checkpoint ORDER BY number LIMIT 1)) - make_interval(days => keep_days)
      AND NOT EXISTS (SELECT FROM access_batch b WHERE b.writer = o.writer)
    ORDER BY o.kept_from LIMIT least(max_rows, 5000)));
  GET DIAGNOSTICS pruned = ROW_COUNT;
  PERFORM set_config('phds.pruned_table', '', true);
  RETURN pruned;
END
$$;

-- contract: both functions are new, so nothing uses the right of PUBLIC since 0.1.0
REVOKE ALL ON FUNCTION "prune_sandbox_grants"(integer, integer), "prune_access_dropped"(integer, integer) FROM PUBLIC;

-- contract: grants to the role of the service, and takes nothing since 0.1.0
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_consent') THEN
    GRANT EXECUTE ON FUNCTION "prune_sandbox_grants"(integer, integer), "prune_access_dropped"(integer, integer) TO "phds_consent";
  END IF;
END
$$;
