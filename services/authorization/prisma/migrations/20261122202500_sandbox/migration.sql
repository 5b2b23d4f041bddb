-- A sandbox app gets codes and tokens of its own sandbox people only, and a live app of none of them (docs/decisions/0031). Validated
-- by the next migration, so that nothing waits while rows are read.
ALTER TABLE "authorization_code" ADD CONSTRAINT "authorization_code_sandbox_check" CHECK (CASE
    WHEN starts_with("client_id", 'app_sandbox_') THEN starts_with("user_id", 'sandbox:' || "client_id" || ':')
    ELSE NOT starts_with("user_id", 'sandbox:') END) NOT VALID;
ALTER TABLE "token_family" ADD CONSTRAINT "token_family_sandbox_check" CHECK (CASE
    WHEN starts_with("client_id", 'app_sandbox_') THEN starts_with("user_id", 'sandbox:' || "client_id" || ':')
    ELSE NOT starts_with("user_id", 'sandbox:') END) NOT VALID;
