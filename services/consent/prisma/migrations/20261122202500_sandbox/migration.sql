-- A sandbox app shares with its own sandbox people only, and a live app with none of them (docs/decisions/0031). Validated by the next
-- migration, so that nothing waits while rows are read.
ALTER TABLE "consent_grant" ADD CONSTRAINT "consent_grant_sandbox_check" CHECK (CASE
    WHEN starts_with("client_id", 'app_sandbox_') THEN starts_with("user_id", 'sandbox:' || "client_id" || ':')
    ELSE NOT starts_with("user_id", 'sandbox:') END) NOT VALID;
ALTER TABLE "pending_approval" ADD CONSTRAINT "pending_approval_sandbox_check" CHECK (CASE
    WHEN starts_with("client_id", 'app_sandbox_') THEN starts_with("claimed_by", 'sandbox:' || "client_id" || ':')
    ELSE NOT starts_with("claimed_by", 'sandbox:') END) NOT VALID;
