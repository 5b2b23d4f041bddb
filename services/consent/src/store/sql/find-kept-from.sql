-- The start of the kept access records; null when none were dropped.
--
-- Indexes: access_dropped_kept_from_idx.
SELECT max(kept_from) AS "keptFrom"
FROM consent_audit.access_dropped;
