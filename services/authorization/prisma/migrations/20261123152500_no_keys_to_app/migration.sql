-- Each insert locked the row of its app, which all requests of the app share, to keep it from being deleted. Nobody deletes apps: the
-- service has no right to (20261122044800_kept_apps), and what inserts has read the app in the same statement or just before.
-- contract: no release deletes apps, and none names these keys, since 0.1.0
ALTER TABLE "access_token" DROP CONSTRAINT "access_token_client_id_fkey";
-- contract: as above, since 0.1.0
ALTER TABLE "token_family" DROP CONSTRAINT "token_family_client_id_fkey";
-- contract: as above, since 0.1.0
ALTER TABLE "authorization_code" DROP CONSTRAINT "authorization_code_client_id_fkey";
-- contract: as above, since 0.1.0
ALTER TABLE "authorization_request" DROP CONSTRAINT "authorization_request_client_id_fkey";
