-- No statement looks rows up by client_id, and an app is never deleted, so no foreign key needs these either. Each made the issue of a
-- code or token write one more index entry. Earlier releases do not use them.
DROP INDEX "access_token_client_id_idx";
DROP INDEX "authorization_code_client_id_idx";
DROP INDEX "authorization_request_client_id_idx";
DROP INDEX "token_family_client_id_idx";
