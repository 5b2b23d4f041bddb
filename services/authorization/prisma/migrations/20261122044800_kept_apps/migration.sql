-- No statement of the service deletes apps: a revoked one stays, with its status and epoch.
DO $$
BEGIN
  IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'phds_authorization') THEN
    REVOKE DELETE ON "app" FROM "phds_authorization";
  END IF;
END
$$;
