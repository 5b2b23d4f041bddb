-- Finds the grants that prune_sandbox_grants deletes, among those of people.
CREATE INDEX CONCURRENTLY IF NOT EXISTS "consent_grant_sandbox_end_idx" ON "consent_grant" ((LEAST("revoked_at", "expires_at")))
  WHERE starts_with("client_id", 'app_sandbox_');
