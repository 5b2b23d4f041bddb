ALTER TABLE "authorization_request" ADD COLUMN "include_granted_scopes" BOOLEAN NOT NULL DEFAULT false;
ALTER TABLE "authorization_code" ADD COLUMN "include_granted_scopes" BOOLEAN NOT NULL DEFAULT false;
