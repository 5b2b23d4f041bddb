-- Each insert locked the row of its app, which all requests of the app share, to keep it from being deleted. Nobody deletes apps: the
-- service has no right to (20261122044800_kept_apps), and what inserts has read the app in the same statement or just before.
--
-- One table in each migration: with locks on two tables at once, it would deadlock with refreshes.
-- contract: no release deletes apps, and none names this key, since 0.1.0
ALTER TABLE "access_token" DROP CONSTRAINT "access_token_client_id_fkey";
