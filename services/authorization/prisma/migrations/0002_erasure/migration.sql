-- CreateIndex
CREATE INDEX "authorization_code_user_id_idx" ON "authorization_code"("user_id");

-- CreateIndex
CREATE INDEX "token_family_user_id_idx" ON "token_family"("user_id");
