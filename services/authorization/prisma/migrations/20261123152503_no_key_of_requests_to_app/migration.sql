-- As 20261123152500_no_key_of_tokens_to_app.
-- contract: no release deletes apps, and none names this key, since 0.1.0
ALTER TABLE "authorization_request" DROP CONSTRAINT "authorization_request_client_id_fkey";
